// Player of recorded motion: time, play and pause, speed and scrubbing, for pages that define `times` and `draw()`.
const $ = (id) => document.getElementById(id);

const lastBefore = (times, time) => { // number of the last of some times that is not after a time; 0 where none is
  let low = 0, high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= time + 1e-9) low = middle; else high = middle - 1;
  }
  return low;
};

class Player {
  start(times, speeds) { // the elements play, scrub, speed and clock
    this.times = times;
    this.time = times[0];
    this.speed = 1;
    this.playing = false;
    $("scrub").max = times.length - 1;
    for (const speed of speeds) $("speed").add(new Option(`${speed} ×`, speed, false, speed === 1));
    $("play").onclick = () => this.play(!this.playing);
    $("scrub").oninput = () => { this.play(false); this.frame(+$("scrub").value); };
    $("speed").onchange = () => { this.speed = +$("speed").value; };
  }

  get end() { return this.times[this.times.length - 1]; }

  index() { return lastBefore(this.times, this.time); }

  play(on) {
    this.playing = on && this.times.length > 1;
    if (this.playing && this.time >= this.end) this.time = this.times[0];
    this.then = null;
    $("play").textContent = this.playing ? "❚❚" : "▶";
    $("play").setAttribute("aria-label", this.playing ? "Pause" : "Play");
    this.wake();
  }

  seek(time) { this.time = Math.max(this.times[0], Math.min(this.end, time)); this.wake(); }

  frame(k) { this.seek(this.times[Math.max(0, Math.min(this.times.length - 1, k))]); }

  step(frames) { this.play(false); this.frame(this.index() + frames); }

  wake() { this.asked ??= requestAnimationFrame((now) => { this.asked = null; this.tick(now); }); }

  tick(now) {
    if (this.playing) {
      const first = this.times[0];
      if (this.then !== null) this.time += (now - this.then) / 1000 * this.speed;
      this.then = now;
      if (this.time > this.end && $("loop")?.checked) this.time = first + (this.time - first) % (this.end - first || 1);
      else if (this.time >= this.end) { this.time = this.end; this.play(false); }
    }
    this.draw();
    if (this.playing) this.wake();
  }

  tell(digits, more = "") { // clock and scrub bar
    $("scrub").value = this.index();
    $("scrub").setAttribute("aria-valuetext", `${this.time.toFixed(digits)} seconds`);
    $("clock").textContent = `${this.time.toFixed(2)} / ${this.end.toFixed(2)} s${more}`;
  }
}

function fail(problem) {
  $("trouble").textContent = `The motion cannot be shown: ${problem.message}`;
  $("trouble").hidden = false;
}
