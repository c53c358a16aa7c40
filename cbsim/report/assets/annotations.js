// What planners showed: lines and points below the bodies, texts above them (cbsim/report/planner_annotations.py).
const PLAN = "#005c43";

function unpackAnnotations(said, step, bytes) { // what planners showed, row by row (cbsim/report/planner_annotations.py)
  const times = Float64Array.from(unpack(bytes, said.steps), (n) => n * step), counts = unpack(bytes, said.counts);
  const first = [0], numbers = unpack(bytes, said.parts), points = grain(bytes, said.points), parts = [];
  counts.forEach((count) => first.push(first[first.length - 1] + count));
  for (let i = 0, at = 0; i < numbers.length; i += 3) {
    const end = at + 2 * numbers[i + 1];
    parts.push({ look: said.looks[numbers[i]], points: points.subarray(at, end), text: said.texts[numbers[i + 2]] });
    at = end;
  }
  return { times, first, parts };
}

function drawAnnotation(replay, { look, points, run }) {
  const { pen } = replay, colour = look.colour || PLAN;
  if (look.kind === "line") {
    pen.beginPath();
    for (let i = 0; i < points.length; i += 2) pen[i ? "lineTo" : "moveTo"](...replay.toScreen(points[i], points[i + 1]));
    if (look.closed) pen.closePath();
    pen.strokeStyle = colour;
    pen.lineWidth = look.size;
    pen.setLineDash(run.letter === "B" ? [6, 4] : []);
    pen.stroke();
    pen.setLineDash([]);
  } else if (look.kind === "dots") {
    pen.fillStyle = colour;
    for (let i = 0; i < points.length; i += 2) {
      const [x, y] = replay.toScreen(points[i], points[i + 1]);
      pen.fillRect(x - look.size / 2, y - look.size / 2, look.size, look.size);
    }
  }
}

function writeAnnotation(replay, { look, points, text }) { // beside its place, where there is room
  const { pen } = replay, [x, y] = replay.toScreen(points[0], points[1]);
  pen.font = "12px system-ui, 'DejaVu Sans', sans-serif";
  const half = pen.measureText(text).width / 2 + 3;
  const place = [[half + 10, -10], [-half - 10, -10], [half + 10, 12], [-half - 10, 12]].find(([dx, dy]) => replay.free(x + dx, y + dy, half, 15));
  if (place) replay.write(text, x + place[0], y + place[1], "center", look.colour || PLAN);
}
