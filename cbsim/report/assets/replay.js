// The run seen from above: the road as its file has it, bodies in their outlines, trails, marks. x east, y north.
const ASPHALT = "#2e3238", GROUND = "#eef0ea", INK = "#18202a", TRAIL = "#9f74dc";
const KINDS_OF_BODY = { // fill and the sign that tells it without colour
  autonomous: { fill: "#5585f0", text: "bot", front: true },
  dynamic: { fill: "#d76b00", text: "traffic", front: true },
  static: { fill: "#848a8f", text: "static object", front: false },
  model: { fill: "#169c59", text: "body of a model", front: false },
  mesh: { fill: "#cb62b9", text: "mesh (hatched)", front: false, hatched: true },
};
const MARKINGS = { double_yellow: ["#ffd400", 2, []], solid_yellow: ["#ffd400", 1, []], solid_white: ["#fff", 1, []], broken_white: ["#fff", 1, [3, 9]] };
const LINE = 0.12, STOP = 0.4, NEAR = 30; // [m]

class Replay {
  constructor(canvas, runs, road) {
    Object.assign(this, { canvas, runs, road, time: 0, trail: 10, names: true, ids: false, annotations: true, follow: null, spot: null, hover: null, from: "above" });
    this.pen = canvas.getContext("2d");
    this.paths = road && this.roads();
    this.fit();
  }

  get size() { return [this.canvas.clientWidth, this.canvas.clientHeight]; }

  fit() { // everything that moves, and what stands near it
    const box = [Infinity, Infinity, -Infinity, -Infinity];
    const plane = (body, x, y, k) => this.plane.of(x, y, body.leans ? body.leans[0][k] : (body.span[0] + body.span[1]) / 2);
    const take = ([x, y], r) => { if (Number.isNaN(x + y)) return; box[0] = Math.min(box[0], x - r); box[1] = Math.min(box[1], y - r); box[2] = Math.max(box[2], x + r); box[3] = Math.max(box[3], y + r); };
    const moves = (body) => body.columns || body.leans, moved = this.runs.some((run) => run.bodies.some(moves));
    const at = (body, axis, k) => (body.columns ? body.columns[axis][k] : body.pose[axis]);
    for (const run of this.runs) for (const body of run.bodies) {
      if (moves(body)) for (let k = 0; k < run.times.length; k++) take(plane(body, at(body, 0, k), at(body, 1, k), k), body.reach);
      else if (!moved) take(plane(body, body.pose[0], body.pose[1], 0), body.reach);
    }
    if (!Number.isFinite(box[0])) box.splice(0, 4, -10, -10, 10, 10);
    const least = Math.max(1, ...this.runs.flatMap((run) => run.bodies.map((body) => (moved && !moves(body) ? 0 : 5 * body.reach))));
    const [w, h] = this.size, wide = Math.max(least, (box[2] - box[0]) * 1.12), high = Math.max(least, (box[3] - box[1]) * 1.12);
    this.scale = Math.min((w || 600) / wide, (h || 400) / high);
    this.centre = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
  }

  frame(run, time, place) { // the two bodies nearest to a place, if they are near
    const away = (body) => { const [x, y] = run.pose(body.row, time); return { x, y, r: body.reach, far: Math.hypot(x - place[0], y - place[1]) - body.reach }; };
    const near = run.bodies.map(away).filter(({ far }) => far < NEAR).sort((a, b) => a.far - b.far).slice(0, 2);
    const ends = (axis, sign) => Math.max(...near.map((one) => sign * one[axis] + one.r), sign * place[axis === "x" ? 0 : 1]);
    const [west, east, south, north] = [-ends("x", -1), ends("x", 1), -ends("y", -1), ends("y", 1)], [w, h] = this.size;
    this.centre = [(west + east) / 2, (south + north) / 2];
    this.scale = Math.min((w || 600) / Math.max(1.5 * (east - west), 10), (h || 400) / Math.max(1.5 * (north - south), 10));
  }

  get plane() { return PLANES[this.from]; }

  get flat() { return this.from === "above"; }

  toScreen(x, y) { const [w, h] = this.size; return [w / 2 + (x - this.centre[0]) * this.scale, h / 2 - (y - this.centre[1]) * this.scale]; }

  toWorld(px, py) { const [w, h] = this.size; return [this.centre[0] + (px - w / 2) / this.scale, this.centre[1] - (py - h / 2) / this.scale]; }

  zoom(factor, px, py) {
    const [w, h] = this.size, at = this.toWorld(px ?? w / 2, py ?? h / 2);
    this.scale = Math.max(0.002, Math.min(400, this.scale * factor));
    const now = this.toWorld(px ?? w / 2, py ?? h / 2);
    this.centre = [this.centre[0] + at[0] - now[0], this.centre[1] + at[1] - now[1]];
  }

  roads() {
    const path = (lines, closed) => {
      const made = new Path2D();
      for (const line of lines) {
        for (let i = 0; i < line.length; i += 2) made[i ? "lineTo" : "moveTo"](line[i], line[i + 1]);
        if (closed) made.closePath();
      }
      return made;
    };
    const area = ({ left, right }) => { // both edges; two rings where the lane is closed
      const back = [];
      for (let i = right.length - 2; i >= 0; i -= 2) back.push(right[i], right[i + 1]);
      return Float64Array.from([...left, ...back]);
    };
    const edges = {};
    for (const lane of this.road.lanes) lane.marks.forEach((mark, side) => (edges[mark] ??= []).push(side ? lane.right : lane.left));
    return {
      lanes: this.road.lanes.map((lane) => path([area(lane)], true)),
      ways: this.road.ways.map((way) => path([way], true)),
      edges: Object.entries(edges).map(([mark, lines]) => [mark, path(lines)]),
      stops: path(this.road.stops),
      zones: this.road.zones.map((zone) => path([zone.corners], true)),
      spots: path(this.road.spots.map((spot) => spot.corners), true),
    };
  }

  draw() {
    const { pen, canvas } = this, [w, h] = this.size, ratio = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
      canvas.width = Math.round(w * ratio);
      canvas.height = Math.round(h * ratio);
    }
    if (this.follow) {
      const at = this.plane.of(...this.runs[this.follow.run].middle(this.follow.row, this.time));
      if (!at.some(Number.isNaN)) this.centre = at; // else it is not there now
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = GROUND;
    pen.fillRect(0, 0, w, h);
    if (!this.road || !this.flat) this.grid(w, h);
    if (!this.flat) drawFloor(this, w, h);
    pen.save();
    const [ox, oy] = this.toScreen(0, 0);
    pen.transform(this.scale, 0, 0, -this.scale, ox, oy); // metres from here on
    if (this.road && this.flat) this.surface();
    pen.restore();
    this.boxes = [];
    this.taken = [];
    if (this.road && this.flat) { drawLights(this); this.signs(); }
    if (this.flat) this.runs.forEach((run) => this.trails(run));
    const annotations = this.annotations && this.flat ? this.runs.flatMap((run) => run.shown(this.time).map((part) => ({ ...part, run }))) : [];
    annotations.forEach((part) => drawAnnotation(this, part));
    for (const run of this.runs) for (const body of orderedBodies(this, run)) {
      if (body.corners || !this.flat) drawSolid(this, run, body); else this.body(run, body);
    }
    this.spots = [];
    if (this.flat) this.marks();
    annotations.forEach((part) => part.look.kind === "text" && writeAnnotation(this, part));
    if (this.names) this.labels();
    this.furniture(w, h);
  }

  grid(w, h) { // without a road: lines every 0.1, 1, 10 … m
    const { pen } = this, step = [0.1, 1, 10, 100, 1000].find((m) => m * this.scale >= 14) ?? 10000;
    const [left, top] = this.toWorld(0, 0), [right, low] = this.toWorld(w, h);
    pen.beginPath();
    for (let x = Math.ceil(left / step) * step; x <= right; x += step) { const [px] = this.toScreen(x, 0); pen.moveTo(px, 0); pen.lineTo(px, h); }
    for (let y = Math.ceil(low / step) * step; y <= top; y += step) { const [, py] = this.toScreen(0, y); pen.moveTo(0, py); pen.lineTo(w, py); }
    pen.strokeStyle = "#d3d7d0";
    pen.lineWidth = 1;
    pen.stroke();
  }

  surface() {
    const line = LINE * this.road.paint, stop = STOP * this.road.paint; // [m]
    const { pen, paths } = this, thin = 1 / this.scale;
    pen.lineJoin = "round";
    for (const zone of paths.zones) { pen.fillStyle = "#363b42"; pen.fill(zone); pen.strokeStyle = INK; pen.lineWidth = thin; pen.setLineDash([6 * thin, 4 * thin]); pen.stroke(zone); pen.setLineDash([]); }
    pen.fillStyle = "#383d44";
    for (const way of paths.ways) pen.fill(way);
    pen.fillStyle = ASPHALT;
    for (const lane of paths.lanes) pen.fill(lane);
    for (const [mark, path] of paths.edges) {
      const [colour, count, dash] = MARKINGS[mark] ?? ["#7d858e", 1, []], width = Math.max(line, thin);
      pen.strokeStyle = colour;
      pen.setLineDash(dash);
      pen.lineWidth = count * width + (count - 1) * line;
      pen.stroke(path);
      pen.setLineDash([]);
      if (count > 1 && line * this.scale > 0.8) { pen.strokeStyle = ASPHALT; pen.lineWidth = line; pen.stroke(path); }
    }
    pen.strokeStyle = "#fff";
    pen.lineWidth = Math.max(line, thin);
    pen.stroke(paths.spots);
    pen.lineWidth = Math.max(stop, 2 * thin);
    pen.stroke(paths.stops);
  }

  trails(run) {
    if (!(this.trail > 0)) return;
    const { pen } = this, last = run.before(this.time), first = this.trail === Infinity ? 0 : run.before(Math.max(0, this.time - this.trail));
    pen.lineWidth = 1.6;
    pen.setLineDash(run.letter === "B" ? [5, 4] : []);
    const [w, h] = this.size, { scale } = this, ox = w / 2 - this.centre[0] * scale, oy = h / 2 + this.centre[1] * scale;
    pen.strokeStyle = TRAIL;
    const first_of = new Map(); // of a model the first body that moves stands for all
    for (const body of run.bodies) if (body.columns && body.kind === "model") first_of.set(body.name.split("/")[0], first_of.get(body.name.split("/")[0]) ?? body);
    for (const body of run.bodies) {
      if (!body.columns || (body.kind === "model" && first_of.get(body.name.split("/")[0]) !== body)) continue;
      const [xs, ys] = body.columns, [x, y] = run.pose(body.row, this.time);
      let px = ox + xs[first] * scale, py = oy - ys[first] * scale, outside = 0;
      pen.beginPath();
      pen.moveTo(px, py);
      for (let k = first + 1; k <= last + 1; k++) { // the last is where it is now, between two frames perhaps
        const qx = ox + (k > last ? x : xs[k]) * scale, qy = oy - (k > last ? y : ys[k]) * scale;
        if (Number.isNaN(px) || Number.isNaN(qx)) { if (!Number.isNaN(qx)) pen.moveTo(qx, qy); [px, py] = [qx, qy]; continue; }
        if (k <= last && Math.abs(qx - px) + Math.abs(qy - py) < 2) continue;
        const side = qx < 0 ? 1 : qx > w ? 2 : qy < 0 ? 3 : qy > h ? 4 : 0;
        if (side && side === outside) pen.moveTo(qx, qy); else pen.lineTo(qx, qy);
        [px, py, outside] = [qx, qy, side];
      }
      pen.stroke();
    }
    pen.setLineDash([]);
  }

  body(run, body) {
    const { pen } = this, [x, y, turned] = run.pose(body.row, this.time), kind = KINDS_OF_BODY[body.kind] ?? KINDS_OF_BODY.static;
    if (Number.isNaN(x)) return; // it is not there
    const at = this.toScreen(x, y), [w, h] = this.size, reach = body.reach * this.scale + 20;
    if (at[0] < -reach || at[1] < -reach || at[0] > w + reach || at[1] > h + reach) return;
    const cos = Math.cos(turned), sin = Math.sin(turned), other = run.letter === "B";
    const corner = (bx, by) => this.toScreen(x + cos * bx - sin * by, y + sin * bx + cos * by);
    this.boxes.push({ run, body, at, reach: Math.max(8, body.reach * this.scale) });
    if (body.reach * this.scale < 5) { // too small to be seen as it is: a dot if it is one that drives, else a square
      pen.beginPath();
      if (kind.front) pen.arc(...at, 4.5, 0, 2 * Math.PI); else pen.rect(at[0] - 2.5, at[1] - 2.5, 5, 5);
      pen.fillStyle = other ? "#fff" : kind.fill;
      pen.fill();
      pen.strokeStyle = other ? kind.fill : INK;
      pen.lineWidth = other ? 2 : 1.2;
      pen.stroke();
      return;
    }
    pen.beginPath();
    for (let i = 0; i < body.outline.length; i += 2) pen[i ? "lineTo" : "moveTo"](...corner(body.outline[i], body.outline[i + 1]));
    pen.closePath();
    const gone = this.time > run.end + 1e-9;
    pen.globalAlpha = gone ? 0.35 : 1;
    if (!other) { pen.fillStyle = kind.fill; if (kind.hatched) pen.globalAlpha *= 0.45; pen.fill(); pen.globalAlpha = gone ? 0.35 : 1; }
    pen.setLineDash(other ? [5, 3] : []);
    if (other) { pen.strokeStyle = "#fff"; pen.lineWidth = 4; pen.setLineDash([]); pen.stroke(); pen.setLineDash([5, 3]); }
    pen.strokeStyle = other ? kind.fill : INK;
    pen.lineWidth = other ? 2 : 1.2;
    pen.stroke();
    pen.setLineDash([]);
    if (kind.hatched) this.hatch(body, corner);
    if (kind.front) { // an arrow shows where forward is
      const ys = body.outline.filter((_, i) => i % 2), xs = body.outline.filter((_, i) => !(i % 2));
      const tip = Math.max(...ys) * 0.9, half = Math.max(...xs) * 0.7;
      pen.beginPath();
      pen.moveTo(...corner(0, tip));
      pen.lineTo(...corner(-half, tip - 1.3 * half));
      pen.lineTo(...corner(half, tip - 1.3 * half));
      pen.closePath();
      pen.fillStyle = other ? kind.fill : "#fff";
      pen.fill();
    }
    pen.globalAlpha = 1;
  }

  hatch(body, corner) {
    const { pen } = this, reach = body.reach * 1.5;
    pen.save();
    pen.clip();
    pen.beginPath();
    const gap = Math.max(0.3, 6 / this.scale);
    for (let d = -2 * reach; d <= 2 * reach; d += gap) { pen.moveTo(...corner(d, -reach)); pen.lineTo(...corner(d + reach, reach)); }
    pen.strokeStyle = INK;
    pen.lineWidth = 0.7;
    pen.stroke();
    pen.restore();
  }

  marks() { // failed checks are crosses in diamonds, passed ones ticks in circles, undecided ones question marks in circles, contacts stars
    const { pen } = this;
    for (const run of this.runs) for (const mark of run.marks) {
      if (!mark.place || (mark.kind === "contact" && run.marks.length > 400)) continue;
      const [x, y] = this.toScreen(...mark.place), bad = mark.kind === "check" && mark.passed === false, open = mark.kind === "check" && mark.passed === null;
      const r = bad ? 9 : mark.kind === "contact" ? 6 : 6.5;
      this.spots.push({ run, mark, at: [x, y], reach: r + 3 });
      pen.beginPath();
      if (bad) { pen.moveTo(x, y - r); pen.lineTo(x + r, y); pen.lineTo(x, y + r); pen.lineTo(x - r, y); pen.closePath(); }
      else if (mark.kind === "contact") for (let i = 0; i < 16; i++) { const a = i * Math.PI / 8, q = i % 2 ? r * 0.5 : r * 1.2; pen[i ? "lineTo" : "moveTo"](x + q * Math.cos(a), y + q * Math.sin(a)); }
      else pen.arc(x, y, r, 0, 2 * Math.PI);
      pen.closePath();
      pen.fillStyle = bad ? "#D55E00" : mark.kind === "contact" ? "#F0E442" : "#fff";
      pen.fill();
      pen.strokeStyle = bad || open || mark.kind === "contact" ? "#000" : "#00553a";
      pen.lineWidth = 1.3;
      pen.stroke();
      if (mark.kind === "contact") continue;
      pen.beginPath();
      if (bad) { pen.moveTo(x - 3, y - 3); pen.lineTo(x + 3, y + 3); pen.moveTo(x + 3, y - 3); pen.lineTo(x - 3, y + 3); pen.strokeStyle = "#000"; }
      else if (open) { pen.arc(x, y - 1.2, 2.2, Math.PI, 2.5 * Math.PI); pen.lineTo(x, y + 2.2); pen.moveTo(x, y + 3.6); pen.lineTo(x, y + 4.4); }
      else { pen.moveTo(x - 3, y); pen.lineTo(x - 0.8, y + 2.6); pen.lineTo(x + 3.4, y - 2.8); }
      pen.lineWidth = 1.8;
      pen.stroke();
    }
    if (this.spot) { // where one was led to
      const [x, y] = this.toScreen(...this.spot);
      pen.beginPath();
      pen.arc(x, y, 15, 0, 2 * Math.PI);
      pen.strokeStyle = "#000";
      pen.lineWidth = 4;
      pen.stroke();
      pen.strokeStyle = "#fff";
      pen.lineWidth = 2;
      pen.stroke();
    }
  }

  write(text, x, y, align = "center", colour = INK) { // with a light edge, so that it can be read on anything
    const { pen } = this;
    pen.textAlign = align;
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    pen.strokeStyle = "#fff";
    pen.lineWidth = 3.5;
    pen.strokeText(text, x, y);
    pen.fillStyle = colour;
    pen.fillText(text, x, y);
  }

  signs() {
    const { pen, road } = this;
    pen.font = "600 11px system-ui, 'DejaVu Sans', sans-serif";
    road.checkpoints.texts.forEach((text, i) => {
      const [x, y] = this.toScreen(road.checkpoints.places[2 * i], road.checkpoints.places[2 * i + 1]);
      if (this.scale < 0.6 || !this.free(x, y, 12, 20)) return;
      const r = Math.max(8, pen.measureText(text).width / 2 + 4);
      pen.beginPath();
      pen.rect(x - r, y - 8, 2 * r, 16);
      pen.fillStyle = "#fff";
      pen.fill();
      pen.strokeStyle = INK;
      pen.lineWidth = 1.4;
      pen.stroke();
      pen.fillStyle = INK;
      pen.textAlign = "center";
      pen.textBaseline = "middle";
      pen.fillText(text, x, y + 0.5);
    });
    for (const area of [...road.zones, ...(this.scale > 4 ? road.spots : [])]) {
      const n = area.corners.length / 2;
      let x = 0, y = 0;
      for (let i = 0; i < n; i++) { x += area.corners[2 * i] / n; y += area.corners[2 * i + 1] / n; }
      const at = this.toScreen(x, y);
      if (this.free(...at, pen.measureText(area.name).width / 2 + 3, 18)) this.write(area.name, ...at);
    }
    if (!this.ids) return;
    pen.font = "10px system-ui, 'DejaVu Sans', sans-serif";
    const [w, h] = this.size;
    road.points.texts.forEach((text, i) => {
      const [x, y] = this.toScreen(road.points.places[2 * i], road.points.places[2 * i + 1]);
      if (x < 0 || y < 0 || x > w || y > h) return;
      pen.fillStyle = "#fff";
      pen.fillRect(x - 2.5, y - 2.5, 5, 5);
      pen.fillStyle = INK;
      pen.fillRect(x - 1.5, y - 1.5, 3, 3);
      if (this.free(x + 16, y, 18, 13)) this.write(text, x + 5, y, "left");
    });
  }

  free(x, y, half, high) { // whether a text fits there; if so the room is taken
    if (this.taken.some(([a, b, c, d]) => Math.abs(a - x) < c + half && Math.abs(b - y) < (d + high) / 2)) return false;
    this.taken.push([x, y, half, high]);
    return true;
  }

  labels() {
    const { pen } = this, two = this.runs.length > 1;
    pen.font = "600 12px system-ui, 'DejaVu Sans', sans-serif";
    for (const { at, reach } of this.boxes) this.taken.push([...at, 0.7 * reach, 1.4 * reach]);
    const order = [...this.boxes].sort((a, b) => !!b.body.columns - !!a.body.columns);
    const told = new Set();
    for (const { run, body, at, reach } of order) {
      const name = body.kind === "model" && !run.alone ? body.name.split("/")[0] : body.name; // bodies of a model share its name
      const text = two ? `${name} ${run.letter}` : name, half = pen.measureText(text).width / 2 + 3;
      if (told.has(text)) continue;
      const places = [[0, -reach - 9], [0, reach + 10], [reach + half + 4, 0], [-reach - half - 4, 0], [0, -reach - 25], [0, reach + 26]];
      const inside = (x) => Math.max(half, Math.min(this.size[0] - half, x));
      const place = places.map(([dx, dy]) => [inside(at[0] + dx), at[1] + dy]).find(([x, y]) => this.free(x, y, half, 15));
      if (!place) continue;
      told.add(text);
      this.write(text, ...place);
    }
  }

  furniture(w, h) { // scale bar, north arrow
    const { pen } = this, wanted = 110 / this.scale, power = 10 ** Math.floor(Math.log10(wanted));
    const metres = [5, 2, 1].map((n) => n * power).find((n) => n <= wanted) ?? power, long = metres * this.scale;
    pen.fillStyle = "rgba(255,255,255,.85)";
    pen.fillRect(8, h - 34, long + 20, 27);
    pen.fillRect(w - 34, 8, 26, 40);
    pen.fillStyle = INK;
    pen.fillRect(18, h - 14, long, 3);
    pen.fillRect(18, h - 19, 1.5, 8);
    pen.fillRect(18 + long - 1.5, h - 19, 1.5, 8);
    pen.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText(metres >= 1000 ? `${metres / 1000} km` : `${Number(metres.toPrecision(2))} m`, 18 + long / 2, h - 25);
    if (!this.flat) { drawAxes(this, w); return; }
    pen.beginPath();
    pen.moveTo(w - 21, 12);
    pen.lineTo(w - 15, 29);
    pen.lineTo(w - 21, 25);
    pen.lineTo(w - 27, 29);
    pen.closePath();
    pen.fill();
    pen.fillText("N", w - 21, 40);
  }

  under(px, py) { // the mark or the body under a place of the canvas; marks go first
    const near = ({ at, reach }) => Math.hypot(at[0] - px, at[1] - py) <= reach;
    const spot = [...this.spots].reverse().find(near);
    return spot ?? [...this.boxes].reverse().find(near) ?? null;
  }
}
