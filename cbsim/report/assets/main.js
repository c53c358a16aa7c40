// The page: one time for replay, plots and tables. `window.cbsim` lets a program look and steer, as the tests do.
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4, 8, 16];
const PLOTTED = 3; // bodies that are plotted at first

class Page extends Player {
  constructor(said, bytes) {
    super();
    this.runs = said.runs.map((run, i) => new Run(run, bytes, "AB"[i]));
    this.replay = new Replay($("view"), this.runs, roadOf(said.road, bytes));
    const times = Float64Array.from(new Set(this.runs.flatMap((run) => Array.from(run.times, (t) => Number(t.toFixed(9)))))).sort();
    this.plots = said.channels.map((channel) => new Plot(channel, this.runs, (t) => { this.play(false); this.seek(t); }));
    $("plots").append(...this.plots.map((plot) => plot.figure));
    this.start(times, SPEEDS);
    this.subjects();
    this.controls();
    this.legend();
    this.pointer();
    this.keys();
    let fitted = false;
    new ResizeObserver(() => { if (!fitted) { this.replay.fit(); this.open(); fitted = true; } this.wake(); }).observe($("view"));
    new ResizeObserver(() => this.wake()).observe($("plots"));
    addEventListener("beforeprint", () => this.draw());
    this.play(false);
  }

  subjects() {
    const names = [...new Set(this.runs.flatMap((run) => run.subjects.map((s) => s.name)))];
    const moves = (name) => this.runs.some((run) => run.bodies.some((body) => body.name === name && body.columns));
    const first = names.some(moves) ? names.filter(moves) : names;
    this.shown = new Map();
    names.forEach((name, i) => {
      const style = styleOf(i), checked = first.slice(0, PLOTTED).includes(name);
      const box = Object.assign(document.createElement("input"), { type: "checkbox", checked });
      if (box.checked) this.shown.set(name, style);
      box.onchange = () => {
        if (box.checked) this.shown.set(name, style); else this.shown.delete(name);
        this.wake();
      };
      const label = document.createElement("label");
      label.append(box, this.sample(34, 12, (pen) => { pen.strokeStyle = style.colour; pen.lineWidth = 2; pen.setLineDash(style.dash); pen.beginPath(); pen.moveTo(0, 6); pen.lineTo(34, 6); pen.stroke(); }), name);
      $("subjects").append(label);
    });
    if (this.runs.length > 1) $("subjects").append("thick: A, thin: B");
    $("plotted").querySelector("fieldset").hidden = $("plots").hidden = !names.length;
  }

  sample(w, h, draw) {
    const canvas = Object.assign(document.createElement("canvas"), { width: 2 * w, height: 2 * h });
    canvas.setAttribute("aria-hidden", "true");
    const pen = canvas.getContext("2d");
    pen.scale(2, 2);
    draw(pen);
    return canvas;
  }

  legend() {
    const add = (text, draw) => {
      const item = document.createElement("li");
      item.append(this.sample(26, 16, draw), text);
      $("legend").append(item);
    };
    const kinds = new Set(this.runs.flatMap((run) => run.bodies.map((body) => body.kind)));
    for (const [kind, { fill, text, front, hatched }] of Object.entries(KINDS_OF_BODY)) if (kinds.has(kind)) add(text, (pen) => {
      pen.fillStyle = fill;
      pen.globalAlpha = hatched ? 0.45 : 1;
      pen.fillRect(2, 3, 22, 10);
      pen.globalAlpha = 1;
      pen.strokeStyle = INK;
      pen.strokeRect(2, 3, 22, 10);
      if (hatched) for (let x = 4; x < 24; x += 5) { pen.beginPath(); pen.moveTo(x, 13); pen.lineTo(x + 3, 3); pen.stroke(); }
      if (front) { pen.fillStyle = "#fff"; pen.beginPath(); pen.moveTo(22, 8); pen.lineTo(17, 4.5); pen.lineTo(17, 11.5); pen.fill(); }
    });
    const marks = this.runs.flatMap((run) => run.marks);
    const shown = (text, kind, passed) => {
      if (!marks.some((m) => m.kind === kind && m.place && (kind === "contact" || m.passed === passed))) return;
      add(text, (pen) => Replay.prototype.marks.call({ pen, runs: [{ marks: [{ kind, passed, place: [13, 8] }] }], toScreen: (x, y) => [x, y], spots: [] }));
    };
    shown("check failed here", "check", false);
    shown("check undecided here", "check", null);
    shown("check passed here", "check", true);
    shown("contact", "contact");
    const annotated = this.runs.some((run) => run.annotations);
    if (annotated) add("what a planner shows", (pen) => { pen.strokeStyle = PLAN; pen.lineWidth = 3; pen.beginPath(); pen.moveTo(2, 8); pen.lineTo(24, 8); pen.stroke(); });
    $("annotations-choice").hidden = !annotated;
    if (this.runs.length > 1) add("B: outlines and trails are dashed", (pen) => { pen.setLineDash([5, 3]); pen.lineWidth = 2; pen.strokeRect(2, 3, 22, 10); });
    $("ids-choice").hidden = !this.replay.road;
  }

  controls() {
    $("follow").add(new Option("nobody", ""));
    this.runs.forEach((run, i) => run.bodies.forEach((body) => (body.columns || body.leans) && $("follow").add(new Option(this.runs.length > 1 ? `${body.name} ${run.letter}` : body.name, `${i} ${body.row}`))));
    $("follow").onchange = () => {
      const [run, row] = $("follow").value.split(" ").map(Number);
      this.replay.follow = $("follow").value ? { run, row } : null;
      if (this.replay.follow) this.replay.scale = Math.max(this.replay.scale, 8);
      this.wake();
    };
    $("trail").onchange = () => { this.replay.trail = Number($("trail").value); this.wake(); };
    $("names").onchange = () => { this.replay.names = $("names").checked; this.wake(); };
    $("ids").onchange = () => { this.replay.ids = $("ids").checked; this.wake(); };
    $("annotations").onchange = () => { this.replay.annotations = $("annotations").checked; this.wake(); };
    $("from").onchange = () => { this.look($("from").value); this.replay.spot = null; this.replay.fit(); this.wake(); };
    $("from-choice").hidden = !this.runs.some((run) => run.bodies.some((body) => body.corners));
    $("fit").onclick = () => this.fit();
    for (const button of document.querySelectorAll(".jump")) button.onclick = () => {
      const { time, x, y } = button.dataset;
      this.jump(Number(time), x === undefined ? null : [Number(x), Number(y)]);
    };
  }

  open() { // at the first failure, if there is one
    const failures = this.runs.flatMap((run) => run.marks.filter((mark) => mark.kind === "check" && mark.passed === false && mark.time !== null).map((mark) => ({ run, mark })));
    const [first] = failures.sort((a, b) => a.mark.time - b.mark.time);
    if (!first) return;
    const { run, mark: { time, place } } = first;
    this.show(time, place);
    if (place) this.replay.frame(run, time, place);
  }

  fit() { this.unfollow(); this.replay.fit(); this.wake(); }

  look(from) {
    $("from").value = this.replay.from = from;
    $("view").setAttribute("aria-label", from === "above" ? "Replay seen from above, north up" : `Replay seen from the ${from}`);
  }

  unfollow() { this.replay.follow = null; $("follow").value = ""; }

  jump(time, place) {
    this.show(time, place);
    $("view").scrollIntoView({ block: "nearest" });
  }

  show(time, place) { // a time, so near to a place that one sees what happened
    this.play(false);
    this.seek(time);
    this.replay.spot = place;
    if (place) {
      this.unfollow();
      this.look("above");
      this.replay.centre = place;
      this.replay.scale = Math.max(this.replay.scale, 8);
    }
  }

  pointer() {
    const view = $("view"), fingers = new Map();
    let spread = 0, moved = 0;
    view.onpointerdown = (e) => { view.setPointerCapture(e.pointerId); fingers.set(e.pointerId, [e.offsetX, e.offsetY]); moved = spread = 0; };
    view.onpointerup = view.onpointercancel = (e) => {
      fingers.delete(e.pointerId);
      view.classList.remove("dragged");
      const { mark } = moved < 4 && e.type === "pointerup" ? this.replay.under(e.offsetX, e.offsetY) ?? {} : {};
      if (mark && mark.time !== null) this.jump(mark.time, mark.place);
    };
    view.onpointerleave = () => { $("tip").hidden = true; };
    view.onwheel = (e) => { // with a body followed, about it
      e.preventDefault();
      const at = this.replay.follow ? [] : [e.offsetX, e.offsetY];
      this.replay.zoom(Math.exp(-Math.max(-100, Math.min(100, e.deltaY)) * 0.0015), ...at);
      this.wake();
    };
    view.onpointermove = (e) => {
      const from = fingers.get(e.pointerId);
      if (!from) return this.point(e.offsetX, e.offsetY);
      const [dx, dy] = [e.offsetX - from[0], e.offsetY - from[1]];
      moved += Math.abs(dx) + Math.abs(dy);
      fingers.set(e.pointerId, [e.offsetX, e.offsetY]);
      if (moved < 4) return;
      view.classList.add("dragged");
      $("tip").hidden = true;
      this.unfollow();
      const { replay } = this, share = fingers.size;
      if (share === 2) {
        const [a, b] = [...fingers.values()], now = Math.hypot(a[0] - b[0], a[1] - b[1]);
        if (spread) replay.zoom(now / spread, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
        spread = now;
      }
      replay.centre = [replay.centre[0] - dx / share / replay.scale, replay.centre[1] + dy / share / replay.scale];
      this.wake();
    };
  }

  point(x, y) { // tell what is under the pointer
    const found = this.replay.under(x, y), tip = $("tip");
    $("view").classList.toggle("hot", !!found?.mark);
    tip.hidden = !found;
    if (!found) return;
    tip.textContent = found.mark ? this.tellMark(found) : this.tellBody(found);
    tip.style.left = `${Math.max(4, Math.min(x + 14, $("view").clientWidth - tip.offsetWidth - 4))}px`;
    tip.style.top = `${Math.max(4, Math.min(y + 14, $("view").clientHeight - tip.offsetHeight - 4))}px`;
  }

  tellMark({ mark }) {
    const how = mark.kind === "contact" ? "contact" : mark.passed === null ? "undecided" : mark.passed ? "passed" : "failed";
    return `${how}: ${mark.name}\n${mark.time === null ? "" : `${mark.time.toFixed(2)} s: `}${mark.message}`;
  }

  tellBody({ run, body }) {
    const [x, y, turned] = run.pose(body.row, this.time), degrees = ((turned * 180 / Math.PI) % 360 + 360) % 360;
    const subject = run.subjects.find((s) => s.row === body.row), speed = subject ? run.value(subject, "speed", this.time) : NaN;
    const lead = this.runs.length > 1 ? ` (${run.letter})` : "";
    return `${body.name}${lead}, ${body.kind}\n(${fixed(x)}, ${fixed(y)}) m, ${degrees.toFixed(1)}°${Number.isNaN(speed) ? "" : `, ${fixed(speed)} m/s`}`;
  }

  keys() { // where nothing else has the keyboard, and in the replay
    const frame = (n) => this.step(n);
    const second = (n) => { this.play(false); this.seek(this.time + n); };
    const does = {
      " ": () => this.play(!this.playing), Home: () => frame(-Infinity), End: () => frame(Infinity),
      "+": () => { this.replay.zoom(1.25); this.wake(); }, "-": () => { this.replay.zoom(0.8); this.wake(); }, 0: () => this.fit(),
    };
    addEventListener("keydown", (e) => {
      const { target } = e, own = target === $("view") || target === document.body;
      if (e.ctrlKey || e.metaKey || e.altKey || !(own || (target === $("scrub") && e.key === " "))) return;
      const turn = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
      const act = turn ? () => (e.shiftKey ? second : frame)(turn) : does[e.key];
      if (!act) return;
      e.preventDefault();
      act();
    });
  }

  seek(time) { this.replay.spot = null; super.seek(time); }

  draw() {
    this.replay.time = this.time;
    this.replay.draw();
    for (const plot of this.plots) plot.draw(this.time, this.shown);
    this.tell(2);
  }
}

const ready = (async () => {
  const said = JSON.parse($("data").textContent);
  return new Page(said, await inflate(said.data));
})();
ready.catch(fail);
window.cbsim = {
  ready: ready.then((page) => {
    Object.assign(window.cbsim, {
      page, times: Array.from(page.times),
      show: (time) => { page.play(false); page.seek(time); page.draw(); },
      pose: (name, run = 0) => page.runs[run].pose(page.runs[run].bodies.findIndex((body) => body.name === name), page.time),
      project: (x, y) => page.replay.toScreen(x, y),
    });
    return true;
  }),
};
window.cbsim.ready.catch(() => {});
