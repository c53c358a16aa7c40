class Motion { // where every frame is at any time
  constructor(scene, bytes) {
    this.frames = scene.frames;
    this.times = unpack(bytes, scene.times);
    this.mean = scene.mean;
    this.x = unpack(bytes, scene.x);
    this.q = unpack(bytes, scene.q);
  }

  node(k, i) {
    const at = k * this.frames.length + i;
    return {
      position: [0, 1, 2].map((a) => this.mean[i][a] + this.x[3 * at + a]),
      orientation: [0, 1, 2, 3].map((a) => this.q[4 * at + a]),
    };
  }

  pose(time, i) { // at a node it is that node
    const k = lastBefore(this.times, time), one = this.node(k, i);
    if (k + 1 >= this.times.length || time <= this.times[k]) return one;
    const s = (time - this.times[k]) / (this.times[k + 1] - this.times[k]), other = this.node(k + 1, i);
    return {
      position: add(one.position, times(minus(other.position, one.position), s)),
      orientation: slerp(one.orientation, other.orientation, s),
    };
  }
}
