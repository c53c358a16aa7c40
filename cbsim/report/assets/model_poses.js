// Silhouettes: bodies of models as they tilt, and everything as it looks from the side (cbsim/report/figures.py).
const PLANES = { // direction to look from -> place in the picture's plane, and how near to the viewer
  above: { of: (x, y, z) => [x, y], near: (x, y, z) => z, axes: null },
  east: { of: (x, y, z) => [y, z], near: (x, y, z) => x, axes: ["y", "z"] },
  south: { of: (x, y, z) => [x, z], near: (x, y, z) => -y, axes: ["x", "z"] },
};

const turned = ([w, x, y, z], [a, b, c]) => { // a vector turned by a unit quaternion, scalar first
  const u = 2 * (y * c - z * b), v = 2 * (z * a - x * c), t = 2 * (x * b - y * a);
  return [a + w * u + y * t - z * v, b + w * v + z * u - x * t, c + w * t + x * v - y * u];
};

function hullOf(points) { // the convex hull of points of a plane, by Andrew's monotone chain
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (list) => {
    const kept = [];
    for (const p of list) {
      for (; kept.length > 1; kept.pop()) {
        const [a, b] = kept.slice(-2);
        if ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 0) break;
      }
      kept.push(p);
    }
    return kept.slice(0, -1);
  };
  return sorted.length < 3 ? sorted : [...half(sorted), ...half(sorted.reverse())];
}

function cornersOf(run, body, time) { // of a body in the world, [x, y, z] each
  const [x, y, heading] = run.pose(body.row, time);
  if (body.corners) {
    const [z, turn] = run.tilt(body.row, time);
    return body.corners.map((corner) => turned(turn, corner).map((value, i) => value + [x, y, z][i]));
  }
  const cos = Math.cos(heading), sin = Math.sin(heading), found = [];
  for (let i = 0; i < body.outline.length; i += 2) {
    const [a, b] = [body.outline[i], body.outline[i + 1]];
    for (const z of body.span) found.push([x + cos * a - sin * b, y + sin * a + cos * b, z]);
  }
  return found;
}

function drawFloor(replay, w, h) { // from the side the ground is a line, and what is below it is earth
  const { pen } = replay, [, level] = replay.toScreen(0, 0);
  pen.fillStyle = "#363b42";
  pen.fillRect(0, level, w, Math.max(0, h - level));
  pen.fillStyle = INK;
  pen.fillRect(0, level, w, 1.5);
}

function drawAxes({ pen, plane }, w) { // in place of the north arrow
  pen.fillRect(w - 28, 38, 12, 1.5);
  pen.fillRect(w - 28, 26, 1.5, 12);
  pen.fillText(plane.axes[0], w - 13, 40);
  pen.fillText(plane.axes[1], w - 27, 18);
}

function orderedBodies(replay, run) { // the nearest to the viewer last; what does not tilt stays in its order, seen from above
  const depthOf = (place) => (place.some(Number.isNaN) ? -Infinity : replay.plane.near(...place)); // who is not there is not drawn
  const near = (body) => (body.corners || !replay.flat ? depthOf(run.middle(body.row, replay.time)) : -Infinity);
  const depth = new Map(run.bodies.map((body) => [body, near(body)]));
  return [...run.bodies].sort((a, b) => (depth.get(a) === depth.get(b) ? a.row - b.row : depth.get(a) - depth.get(b)));
}

function drawSolid(replay, run, body) { // a body by its silhouette
  const { pen, plane } = replay, kind = KINDS_OF_BODY[body.kind] ?? KINDS_OF_BODY.static, other = run.letter === "B";
  const at = replay.toScreen(...plane.of(...run.middle(body.row, replay.time))), [w, h] = replay.size, reach = body.reach * replay.scale;
  if (Number.isNaN(at[0]) || at[0] < -reach || at[1] < -reach || at[0] > w + reach || at[1] > h + reach) return;
  replay.boxes.push({ run, body, at, reach: Math.max(8, reach) });
  const ring = hullOf(cornersOf(run, body, replay.time).map((place) => plane.of(...place)));
  pen.beginPath();
  ring.forEach((place, i) => pen[i ? "lineTo" : "moveTo"](...replay.toScreen(...place)));
  pen.closePath();
  pen.globalAlpha = replay.time > run.end + 1e-9 ? 0.35 : 1;
  pen.fillStyle = kind.fill;
  if (!other) pen.fill();
  pen.setLineDash(other ? [5, 3] : []);
  pen.strokeStyle = other ? kind.fill : INK;
  pen.lineWidth = other ? 2 : 1.2;
  pen.stroke();
  pen.setLineDash([]);
  pen.globalAlpha = 1;
}
