// Traffic lights: at the end of each lane the strictest of its lights, a disc for green, a triangle for yellow, a square for red.

const LIGHTS = [["#119c6d", 24, 0], ["#f0e442", 3, -Math.PI / 2], ["#eb574a", 4, Math.PI / 4]]; // colour, corners, first of them

function stateOf(phases, time) { // phases of one light: when each ends within its cycle, and its state
  const [ends, states] = phases, within = time % ends[ends.length - 1], k = ends.findIndex((end) => within < end);
  return states[k < 0 ? states.length - 1 : k];
}

function shownBy([times, states], phases, time) { // a state that an event holds, else that of the program
  let k = times.length - 1;
  while (k >= 0 && times[k] > time + 1e-9) k--;
  return k >= 0 && states[k] >= 0 ? states[k] : stateOf(phases, time);
}

function drawLights(replay) {
  const { pen, road, scale, time } = replay;
  if (scale < 0.8) return;
  for (const { place, phases, held } of road.lights) {
    const state = Math.max(...phases.map((one, k) => shownBy(held[k], one, time)));
    const [colour, count, first] = LIGHTS[state], [x, y] = replay.toScreen(...place);
    pen.beginPath();
    for (let k = 0; k < count; k++) {
      const angle = first + (2 * Math.PI * k) / count;
      pen[k ? "lineTo" : "moveTo"](x + 6.5 * Math.cos(angle), y + 6.5 * Math.sin(angle));
    }
    pen.closePath();
    pen.fillStyle = colour;
    pen.fill();
    pen.strokeStyle = INK;
    pen.lineWidth = 2;
    pen.stroke();
  }
}
