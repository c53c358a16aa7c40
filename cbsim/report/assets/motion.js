// What is recorded, unpacked: numbers are whole multiples of a unit, kept as differences (cbsim/report/frames.py).
const NOTHING = -2147483648;

const grain = (bytes, { unit, counts }) => Float64Array.from(unpack(bytes, counts), (n) => (n === NOTHING ? NaN : n * unit));

class Run {
  constructor(said, bytes, letter) {
    Object.assign(this, said, { letter });
    this.times = Float64Array.from(unpack(bytes, said.steps), (n) => n * said.step);
    this.bodies.forEach((body, row) => {
      body.row = row;
      body.columns = body.motion?.map((column) => grain(bytes, column));
      body.leans = body.tilt?.map((column) => grain(bytes, column));
      body.reach = Math.max(0, ...body.outline.map(Math.abs), ...(body.corners ?? []).map((corner) => Math.hypot(...corner)));
    });
    for (const subject of this.subjects) {
      subject.name = this.bodies[subject.row].name;
      subject.series = Object.fromEntries(Object.entries(subject.values).map(([key, column]) => [key, grain(bytes, column)]));
      subject.partners = unpack(bytes, subject.whom);
    }
    if (said.drawings) this.annotations = unpackAnnotations(said.drawings, said.step, bytes);
  }

  get end() { return this.times[this.times.length - 1]; }

  before(time) { return lastBefore(this.times, time); }

  shown(time) { // what planners showed last: { look, points, text }
    if (!this.annotations || time < this.annotations.times[0] - 1e-9) return [];
    const row = lastBefore(this.annotations.times, time), { first, parts } = this.annotations;
    return parts.slice(first[row], first[row + 1]);
  }

  pose(row, time) { // [x, y, heading]
    const { columns, pose } = this.bodies[row];
    return columns ? this.mixed(columns, time) : pose;
  }

  tilt(row, time) { // height of the centre and unit quaternion of a body of a model
    const [z, ...turn] = this.mixed(this.bodies[row].leans, time), size = Math.hypot(...turn) || 1;
    return [z, turn.map((part) => part / size)];
  }

  middle(row, time) { // [x, y, z] of the centre
    const { leans, span } = this.bodies[row], [x, y] = this.pose(row, time);
    return [x, y, leans ? this.tilt(row, time)[0] : (span[0] + span[1]) / 2];
  }

  mixed(columns, time) { // at a frame it is that frame, between them it goes straight, after the end it stays
    const k = this.before(time), next = Math.min(k + 1, this.times.length - 1);
    const gap = this.times[next] - this.times[k];
    const share = gap > 0 ? Math.max(0, Math.min(1, (time - this.times[k]) / gap)) : 0;
    const at = share > 0 && !Number.isNaN(columns[0][next]) ? share : 0; // who is not there at the next frame stays until then
    return columns.map((column) => (at > 0 ? column[k] + at * (column[next] - column[k]) : column[k]));
  }

  value(subject, key, time) {
    const series = subject.series[key];
    return series && time <= this.end + 1e-9 ? series[this.before(time)] : NaN;
  }
}

const ROAD = ["ways", "stops"];

function roadOf(said, bytes) { // polylines as flat arrays x, y, x, y …
  if (!said) return null;
  const road = { ...said };
  for (const key of ROAD) road[key] = said[key].map((line) => grain(bytes, line));
  road.lanes = said.lanes.map((lane) => ({ ...lane, left: grain(bytes, lane.left), right: grain(bytes, lane.right) }));
  for (const key of ["zones", "spots"]) road[key] = said[key].map((area) => ({ ...area, corners: grain(bytes, area.corners) }));
  for (const key of ["checkpoints", "points"]) road[key] = { texts: said[key].texts, places: grain(bytes, said[key].places) };
  return road;
}
