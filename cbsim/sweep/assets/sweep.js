// Parallel coordinates and the heat map of a sweep.
const data = JSON.parse(document.getElementById("data").textContent);
const COLOURS = { pass: "rgba(0, 114, 84, 0.25)", fail: "rgba(190, 60, 10, 0.65)", error: "rgba(120, 70, 0, 0.8)" };

function prepared(canvas) {
  const scale = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const paint = canvas.getContext("2d");
  paint.setTransform(scale, 0, 0, scale, 0, 0);
  paint.clearRect(0, 0, width, height);
  paint.font = "12px system-ui, 'DejaVu Sans', sans-serif";
  return { paint, width, height };
}

// Parallel coordinates ------------------------------------------------------------------------------------------------
const lines = document.getElementById("lines"), count = document.getElementById("count");
const kept = data.axes.map(() => null);  // range of each axis that is kept, from 0 to 1
const MARGIN = { left: 60, right: 60, top: 44, bottom: 26 };

function acrossAt(k, width) {
  const room = width - MARGIN.left - MARGIN.right;
  return MARGIN.left + (data.axes.length > 1 ? room * k / (data.axes.length - 1) : room / 2);
}

function drawLines() {
  const { paint, width, height } = prepared(lines);
  const room = height - MARGIN.top - MARGIN.bottom;
  const upAt = (value) => MARGIN.top + (1 - value) * room;
  const counts = { pass: 0, fail: 0, error: 0 };
  for (const verdict of ["pass", "fail", "error"]) {
    paint.strokeStyle = COLOURS[verdict];
    for (const run of data.lines) {
      if (run[0] !== verdict) continue;
      const outside = kept.some((range, k) => range && !(run[k + 1] !== null && run[k + 1] >= range[0] && run[k + 1] <= range[1]));
      if (outside) continue;
      counts[verdict] += 1;
      paint.beginPath();
      let drawing = false;
      run.slice(1).forEach((value, k) => {
        if (value === null) { drawing = false; return; }
        const x = acrossAt(k, width), y = upAt(value);
        if (drawing) paint.lineTo(x, y); else paint.moveTo(x, y);
        drawing = true;
      });
      paint.stroke();
    }
  }
  paint.textAlign = "center";
  data.axes.forEach((axis, k) => {
    const x = acrossAt(k, width);
    paint.strokeStyle = "#18202a";
    paint.beginPath(); paint.moveTo(x, MARGIN.top); paint.lineTo(x, height - MARGIN.bottom); paint.stroke();
    paint.fillStyle = "#18202a";
    paint.fillText(axis.name, x, k % 2 ? 14 : 28);
    paint.fillText(axis.ends[1], x, MARGIN.top - 4);
    paint.fillText(axis.ends[0], x, height - MARGIN.bottom + 16);
    if (kept[k]) {
      paint.fillStyle = "rgba(11, 92, 173, 0.25)";
      paint.fillRect(x - 7, upAt(kept[k][1]), 14, upAt(kept[k][0]) - upAt(kept[k][1]));
    }
  });
  const shown = counts.pass + counts.fail + counts.error;
  count.textContent = `${shown} of ${data.lines.length} lines: ${counts.pass} passed, ${counts.fail} failed, ${counts.error} errors`;
}

let drag = null;
function valueAt(event) {
  const box = lines.getBoundingClientRect();
  const value = 1 - (event.clientY - box.top - MARGIN.top) / (box.height - MARGIN.top - MARGIN.bottom);
  return Math.min(1, Math.max(0, value));
}
lines.addEventListener("pointerdown", (event) => {
  const x = event.clientX - lines.getBoundingClientRect().left;
  const near = data.axes.map((_, k) => Math.abs(acrossAt(k, lines.clientWidth) - x));
  const axis = near.indexOf(Math.min(...near));
  if (near[axis] > 30) return;
  drag = { axis, from: valueAt(event) };
  lines.setPointerCapture(event.pointerId);
});
lines.addEventListener("pointermove", (event) => {
  if (!drag) return;
  const to = valueAt(event);
  kept[drag.axis] = [Math.min(drag.from, to), Math.max(drag.from, to)];
  drawLines();
});
lines.addEventListener("pointerup", (event) => {
  if (!drag) return;
  if (Math.abs(valueAt(event) - drag.from) < 0.01) kept[drag.axis] = null;
  drag = null;
  drawLines();
});

// Heat map ------------------------------------------------------------------------------------------------------------
const heat = document.getElementById("heat"), cell = document.getElementById("cell");
const across = document.getElementById("across"), up = document.getElementById("up");
const names = [...new Set(data.maps.flatMap((map) => [map.x, map.y]))];
for (const [select, chosen] of [[across, 0], [up, 1]]) {
  for (const name of names) select.add(new Option(name, name));
  select.selectedIndex = chosen;
  select.addEventListener("change", drawMap);
}

// Counts of runs and of those that passed, [column][row], whichever way round the pair is stored.
function chosenMap() {
  const found = data.maps.find((map) => map.x === across.value && map.y === up.value);
  if (found) return found;
  const turned = data.maps.find((map) => map.y === across.value && map.x === up.value);
  if (!turned) return null;
  return { xs: turned.ys, ys: turned.xs, cells: turned.ys.map((_, i) => turned.xs.map((_, j) => turned.cells[j][i])) };
}

function colourOf(rate) {  // from orange over white to green, told apart with colour vision deficiency
  const mix = (a, b, t) => a.map((value, k) => Math.round(value + (b[k] - value) * t));
  const [low, middle, high] = [[190, 60, 10], [248, 248, 244], [0, 114, 84]];
  return `rgb(${(rate < 0.5 ? mix(low, middle, 2 * rate) : mix(middle, high, 2 * rate - 1)).join(",")})`;
}

const FRAME = { left: 110, right: 20, top: 14, bottom: 44 };
function drawMap() {
  const { paint, width, height } = prepared(heat);
  const map = chosenMap();
  if (!map) { cell.textContent = "Choose two parameters."; return; }
  const w = (width - FRAME.left - FRAME.right) / map.xs.length, h = (height - FRAME.top - FRAME.bottom) / map.ys.length;
  const passes = (i, j) => {
    const one = (map.cells[i] || [])[j];
    return one && one[0] ? one[1] / one[0] >= 0.5 : null;
  };
  const corner = (i, j) => [FRAME.left + i * w, height - FRAME.bottom - (j + 1) * h];
  map.cells.forEach((column, i) => column.forEach(([total, good], j) => {
    const [x, y] = corner(i, j);
    paint.fillStyle = total ? colourOf(good / total) : "#e3e6ea";
    paint.fillRect(x, y, w + 0.5, h + 0.5);
  }));
  paint.strokeStyle = "#000"; paint.lineWidth = 2.5;
  map.cells.forEach((column, i) => column.forEach((_, j) => {
    const here = passes(i, j), right = passes(i + 1, j), above = passes(i, j + 1);
    const [x, y] = corner(i, j);
    const draw = (a, b, c, d) => { paint.beginPath(); paint.moveTo(a, b); paint.lineTo(c, d); paint.stroke(); };
    if (here !== null && right !== null && here !== right) draw(x + w, y, x + w, y + h);
    if (here !== null && above !== null && here !== above) draw(x, y, x + w, y);
  }));
  paint.lineWidth = 1; paint.fillStyle = "#18202a"; paint.textAlign = "center";
  const every = Math.ceil(map.xs.length / 10), upEvery = Math.ceil(map.ys.length / 12);
  map.xs.forEach((label, i) => { if (i % every === 0) paint.fillText(label, corner(i, 0)[0] + w / 2, height - FRAME.bottom + 16); });
  paint.fillText(across.value, (FRAME.left + width) / 2, height - 8);
  paint.textAlign = "right";
  map.ys.forEach((label, j) => { if (j % upEvery === 0) paint.fillText(label, FRAME.left - 6, corner(0, j)[1] + h / 2 + 4); });
  paint.save(); paint.translate(14, height / 2); paint.rotate(-Math.PI / 2); paint.textAlign = "center";
  paint.fillText(up.value, 0, 0); paint.restore();
}
heat.addEventListener("pointermove", (event) => {
  const map = chosenMap(), box = heat.getBoundingClientRect();
  if (!map) return;
  const i = Math.floor((event.clientX - box.left - FRAME.left) / (box.width - FRAME.left - FRAME.right) * map.xs.length);
  const j = Math.floor((box.bottom - FRAME.bottom - event.clientY) / (box.height - FRAME.top - FRAME.bottom) * map.ys.length);
  const one = (map.cells[i] || [])[j];
  if (one) cell.textContent = `${across.value} ${map.xs[i]}, ${up.value} ${map.ys[j]}: ${one[1]} of ${one[0]} passed`;
});

function draw() { drawLines(); if (data.maps.length) drawMap(); }
if (!data.maps.length) document.getElementById("mapped").hidden = true;
window.addEventListener("resize", draw);
draw();
