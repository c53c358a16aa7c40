// Traffic lights: at the end of each lane the strictest of its lights, a disc for green, a triangle for yellow, a square for red.

const LIGHTS = [["#119c6d", 24, 0], ["#f0e442", 3, -Math.PI / 2], ["#eb574a", 4, Math.PI / 4]]; // colour, corners, first of them

function stateOf(phases, time) { // phases of one light: when each ends within its cycle, and its state
  const [ends, states] = phases, within = time % ends[ends.length - 1], k = ends.findIndex((end) => within < end);
  return states[k < 0 ? states.length - 1 : k];
}

function drawLights(replay) {
  const { pen, road, scale, time } = replay;
  if (scale < 0.8) return;
  for (const { place, phases } of road.lights) {
    const [colour, count, first] = LIGHTS[Math.max(...phases.map((one) => stateOf(one, time)))], [x, y] = replay.toScreen(...place);
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
