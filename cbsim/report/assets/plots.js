// Plots over time, drawn column by column: of what falls into one, the lowest and the highest are joined.
const COLOURS = ["#0072B2", "#D55E00", "#007a5a", "#8a3a76", "#8a6d00", "#1f1f1f", "#2b7fb8", "#a34400", "#3d8b40", "#b0307a", "#6b5800", "#666"];
const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3], [12, 4], [4, 2]];
const TOP = 8, FOOT = 20, RIGHT = 8; // [px] around a plot
const WIDTHS = [2.6, 1, 1.6]; // [px] of A, of B, of one alone
const styleOf = (i) => ({ colour: COLOURS[i % COLOURS.length], dash: DASHES[i % DASHES.length] });

const fixed = (value) => { // with a minus, and none before zero
  const text = value.toFixed(2);
  return Number(text) === 0 ? "0.00" : text.replace("-", "−");
};

function ticks(low, high, count) {
  const raw = (high - low) / Math.max(1, count), power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw * 0.999), out = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) out.push(Number((i * step).toPrecision(12)));
  return out;
}

class Plot {
  constructor(channel, runs, seek) {
    Object.assign(this, { channel, runs });
    this.figure = document.createElement("figure");
    this.canvas = document.createElement("canvas");
    this.output = document.createElement("output");
    const caption = document.createElement("figcaption");
    caption.append(`${channel.title} [${channel.unit}]`, this.output);
    this.canvas.setAttribute("role", "img");
    this.figure.append(caption, this.canvas);
    const at = (e) => this.span[0] + Math.max(0, Math.min(1, (e.offsetX - this.left) / (this.canvas.clientWidth - this.left - RIGHT))) * (this.span[1] - this.span[0]);
    this.canvas.onpointerdown = (e) => { this.canvas.setPointerCapture(e.pointerId); seek(at(e)); };
    this.canvas.onpointermove = (e) => { if (e.buttons & 1) seek(at(e)); };
    this.left = 44;
    this.canvas.hidden = !runs.some((run) => run.subjects.some((s) => s.series[channel.key]));
  }

  get key() { return this.channel.key; }

  lines(shown) { // [run, subject, style] of what is plotted here
    return this.runs.flatMap((run, i) => run.subjects.filter((s) => shown.has(s.name) && s.series[this.key])
      .map((s) => [run, s, { ...shown.get(s.name), width: WIDTHS[this.runs.length > 1 ? i : 2] }]));
  }

  draw(time, shown) { // what does not change with time is drawn once, and kept
    const { canvas } = this, ratio = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
    const lines = w ? this.lines(shown) : [], state = [w, h, ratio, ...shown.keys()].join("\n");
    if (w && state !== this.state) {
      this.state = state;
      this.kept = Object.assign(document.createElement("canvas"), { width: Math.round(w * ratio), height: Math.round(h * ratio) });
      Object.assign(canvas, { width: this.kept.width, height: this.kept.height });
      this.picture(this.kept.getContext("2d"), ratio, w, h, lines);
      this.describe(lines);
    }
    if (w) {
      const pen = canvas.getContext("2d");
      pen.setTransform(1, 0, 0, 1, 0, 0);
      pen.clearRect(0, 0, canvas.width, canvas.height);
      pen.drawImage(this.kept, 0, 0);
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.strokeStyle = "#000";
      pen.lineWidth = 1.2;
      const x = this.left + (time - this.span[0]) / (this.span[1] - this.span[0]) * (w - this.left - RIGHT);
      this.stroke(pen, [[x, TOP - 3], [x, h - FOOT]]);
    }
    this.tell(time, lines);
  }

  picture(pen, ratio, w, h, lines) {
    const { channel } = this, seen = lines.flatMap(([, s]) => this.range(s.series[this.key]));
    this.span = [Math.min(...this.runs.map((r) => r.times[0])), Math.max(...this.runs.map((r) => r.end), 1e-3)];
    let low = Math.min(...seen, 0), high = Math.max(...seen, 0);
    this.cut = channel.limit !== null && (low < -channel.limit || high > channel.limit);
    if (channel.limit !== null) { low = Math.max(low, -channel.limit); high = Math.min(high, channel.limit); }
    if (!(high - low > 1e-6)) { high += 1; low -= channel.key === "speed" || channel.key === "ttc" ? 0 : 1; }
    const pad = 0.04 * (high - low);
    [low, high] = [low - pad, high + pad];
    const px = (t) => this.left + (t - this.span[0]) / (this.span[1] - this.span[0]) * (w - this.left - RIGHT);
    const py = (v) => TOP + (high - v) / (high - low) * (h - TOP - FOOT);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    pen.lineWidth = 1;
    pen.fillStyle = "#4a5563";
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    for (const v of ticks(low, high, (h - TOP - FOOT) / 26)) {
      pen.strokeStyle = v === 0 ? "#8b95a1" : "#dfe3e8";
      this.stroke(pen, [[this.left, py(v)], [w - RIGHT, py(v)]]);
      pen.fillText(String(v).replace("-", "−"), this.left - 6, py(v));
    }
    pen.textAlign = "center";
    const marks = ticks(this.span[0], this.span[1], w / 80);
    marks.forEach((t, i) => {
      pen.strokeStyle = "#dfe3e8";
      this.stroke(pen, [[px(t), TOP], [px(t), h - FOOT]]);
      pen.fillText(i === marks.length - 1 ? `${t} s` : String(t), Math.min(px(t), w - 16), h - 9);
    });
    pen.beginPath();
    pen.rect(this.left, TOP - 3, w - this.left - RIGHT + 2, h - TOP - FOOT + 6);
    pen.clip();
    for (const [run, subject, style] of lines) this.line(pen, run.times, subject.series[this.key], px, py, style);
    const failed = this.runs.flatMap((run) => run.marks).filter((mark) => mark.kind === "check" && mark.passed === false && mark.time !== null);
    for (const mark of failed) this.flag(pen, px(mark.time), TOP);
  }

  range(series) { let low = Infinity, high = -Infinity; for (const v of series) { if (v < low) low = v; if (v > high) high = v; } return low <= high ? [low, high] : []; }

  stroke(pen, points) { pen.beginPath(); points.forEach((p, i) => pen[i ? "lineTo" : "moveTo"](...p)); pen.stroke(); }

  flag(pen, x, top) { pen.beginPath(); pen.moveTo(x, top + 5); pen.lineTo(x - 5, top - 3); pen.lineTo(x + 5, top - 3); pen.closePath(); pen.fillStyle = "#D55E00"; pen.fill(); pen.strokeStyle = "#000"; pen.lineWidth = 1; pen.stroke(); }

  line(pen, times, series, px, py, { colour, dash, width }) {
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.setLineDash(dash);
    pen.lineJoin = "round";
    pen.beginPath();
    let column = null, low = 0, high = 0, last = 0, alone = null;
    const flush = () => { if (column !== null && high - low > 0.01) { pen.lineTo(column, low); pen.lineTo(column, high); pen.lineTo(column, last); } };
    const end = () => { flush(); if (alone) { pen.moveTo(alone[0] - 0.8, alone[1]); pen.lineTo(alone[0] + 0.8, alone[1]); } column = null; alone = null; };
    for (let k = 0; k < times.length; k++) {
      const v = series[k];
      if (Number.isNaN(v)) { end(); continue; }
      const x = Math.round(px(times[k]) * 2) / 2, y = py(v);
      if (column === x) { low = Math.min(low, y); high = Math.max(high, y); last = y; continue; }
      flush();
      if (column === null) { pen.moveTo(x, y); alone = [x, y]; } else { pen.lineTo(x, y); alone = null; }
      [column, low, high, last] = [x, y, y, y];
    }
    end();
    pen.stroke();
    pen.setLineDash([]);
  }

  tell(time, lines) { // values at the time of the replay
    const two = this.runs.length > 1;
    const said = lines.map(([run, subject]) => {
      const value = run.value(subject, this.key, time);
      const partner = this.key === "ttc" && !Number.isNaN(value) ? ` with ${run.bodies[subject.partners[run.before(time)]].name}` : "";
      return `${subject.name}${two ? ` ${run.letter}` : ""} ${Number.isNaN(value) ? "–" : fixed(value)}${partner}`;
    });
    const none = this.canvas.hidden ? "nothing recorded" : "no body chosen";
    this.output.textContent = [...said, lines.length && this.cut ? `(cut at ±${this.channel.limit})` : ""].filter(Boolean).join(" · ") || none;
  }

  describe(lines) { // what the picture is, in words
    const words = lines.map(([run, s]) => {
      const [a, b] = this.range(s.series[this.key]);
      return a === undefined ? "" : `${s.name}${this.runs.length > 1 ? ` ${run.letter}` : ""} from ${fixed(a)} to ${fixed(b)}`;
    });
    this.canvas.setAttribute("aria-label", `${this.channel.title} in ${this.channel.unit} over time: ${words.filter(Boolean).join(", ") || "no body chosen"}`);
  }
}
