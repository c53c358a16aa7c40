// Vectors are arrays of three; matrices are of 16 numbers, column by column; quaternions are scalar first, body to world.
const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const times = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => times(a, 1 / (Math.hypot(...a) || 1));

function product(a, b) { // a b
  const out = new Float32Array(16);
  for (let c = 0; c < 4; c++)
    for (let r = 0; r < 4; r++)
      out[4 * c + r] = a[r] * b[4 * c] + a[4 + r] * b[4 * c + 1] + a[8 + r] * b[4 * c + 2] + a[12 + r] * b[4 * c + 3];
  return out;
}

function applied(m, p) { // of a point, with its fourth coordinate
  return [0, 1, 2, 3].map((r) => m[r] * p[0] + m[4 + r] * p[1] + m[8 + r] * p[2] + m[12 + r]);
}

function placed(q, x) { // the frame at x turned by q
  const [a, b, c, d] = q;
  return new Float32Array([
    1 - 2 * (c * c + d * d), 2 * (b * c + a * d), 2 * (b * d - a * c), 0,
    2 * (b * c - a * d), 1 - 2 * (b * b + d * d), 2 * (c * d + a * b), 0,
    2 * (b * d + a * c), 2 * (c * d - a * b), 1 - 2 * (b * b + c * c), 0,
    x[0], x[1], x[2], 1,
  ]);
}

function lookAt(eye, target, up) { // world to camera
  const z = unit(minus(eye, target)), x = unit(cross(up, z)), y = cross(z, x);
  return new Float32Array([x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -dot(x, eye), -dot(y, eye), -dot(z, eye), 1]);
}

function perspective(field, aspect, near, far) {
  const f = 1 / Math.tan(field / 2), d = near - far;
  return new Float32Array([f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / d, -1, 0, 0, 2 * far * near / d, 0]);
}

function parallel(half, near, far) {
  const d = near - far;
  return new Float32Array([1 / half, 0, 0, 0, 0, 1 / half, 0, 0, 0, 0, 2 / d, 0, 0, 0, (far + near) / d, 1]);
}

function slerp(p, q, s) { // the shorter way: a body turns by less than half a turn in a step
  let cosine = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3];
  const sign = cosine < 0 ? -1 : 1;
  const angle = Math.acos(Math.min(1, Math.abs(cosine)));
  const one = angle < 1e-6 ? 1 - s : Math.sin((1 - s) * angle) / Math.sin(angle);
  const other = sign * (angle < 1e-6 ? s : Math.sin(s * angle) / Math.sin(angle));
  return [0, 1, 2, 3].map((i) => one * p[i] + other * q[i]);
}
