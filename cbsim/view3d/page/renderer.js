// Draws the scene with WebGL 2: a depth map from the lamp, then everything, then what can be seen through.
const SHADOW = 2048; // texels a side

function programOf(gl, vertex, fragment) {
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
  const at = {};
  for (let i = 0; i < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); i++) {
    const name = gl.getActiveUniform(program, i).name;
    at[name] = gl.getUniformLocation(program, name);
  }
  return { program, at };
}

function normalsOf(vertices, faces) { // means of the faces around, weighted by area
  const normals = new Float32Array(vertices.length);
  const corner = (i) => [vertices[3 * i], vertices[3 * i + 1], vertices[3 * i + 2]];
  for (let f = 0; f < faces.length; f += 3) {
    const a = corner(faces[f]), n = cross(minus(corner(faces[f + 1]), a), minus(corner(faces[f + 2]), a));
    for (let k = 0; k < 3; k++) for (let c = 0; c < 3; c++) normals[3 * faces[f + k] + c] += n[c];
  }
  for (let i = 0; i < normals.length; i += 3) {
    const length = Math.hypot(normals[i], normals[i + 1], normals[i + 2]) || 1;
    for (let c = 0; c < 3; c++) normals[i + c] /= length;
  }
  return normals;
}

const BOX_FACES = [[0, 1, 2, 0, 2, 3], [4, 5, 6, 4, 6, 7], [8, 9, 10, 8, 10, 11], [12, 13, 14, 12, 14, 15], [16, 17, 18, 16, 18, 19], [20, 21, 22, 20, 22, 23]].flat();

function slab([x, y, z]) { // from −z to 0, top first
  const v = (i) => [(i & 1 ? x : -x) / 2, (i & 2 ? y : -y) / 2, i & 4 ? 0 : -z];
  return [[4, 5, 7, 6], [0, 2, 3, 1], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]].flat().flatMap(v);
}

class Renderer {
  constructor(canvas, scene, solids) {
    const gl = canvas.getContext("webgl2", { antialias: true, alpha: false, powerPreference: "high-performance" });
    if (!gl) throw new Error("This browser or machine has no WebGL 2, which drawing in space needs.");
    this.gl = gl;
    this.canvas = canvas;
    this.scene = scene;
    this.main = programOf(gl, VERTEX, FRAGMENT);
    this.sky = programOf(gl, SKY_VERTEX, SKY_FRAGMENT);
    this.empty = gl.createVertexArray();
    const there = new Map(); // equal surfaces are kept once
    const uploaded = (solid) => {
      if (!there.has(solid.key)) there.set(solid.key, this.upload(solid.vertices(), solid.faces()));
      return there.get(solid.key);
    };
    this.solids = solids.map((solid, i) => ({ ...solid, ...uploaded(solid), number: i + 1 }));
    this.floor = scene.floor && this.upload(new Float32Array(slab(scene.floor.size)), new Uint32Array(BOX_FACES));
    this.makeDepths();
    this.makePicker();
    this.makePicture();
    gl.enable(gl.DEPTH_TEST);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
  }

  upload(vertices, faces) {
    const gl = this.gl, array = gl.createVertexArray();
    gl.bindVertexArray(array);
    for (const [slot, data] of [[0, vertices], [1, normalsOf(vertices, faces)]]) {
      gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
      gl.enableVertexAttribArray(slot);
      gl.vertexAttribPointer(slot, 3, gl.FLOAT, false, 0, 0);
    }
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, faces, gl.STATIC_DRAW);
    gl.bindVertexArray(null);
    return { array, count: faces.length };
  }

  makeDepths() {
    const gl = this.gl;
    this.depths = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.depths);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, SHADOW, SHADOW);
    for (const [name, value] of [["MIN_FILTER", gl.LINEAR], ["MAG_FILTER", gl.LINEAR], ["WRAP_S", gl.CLAMP_TO_EDGE],
      ["WRAP_T", gl.CLAMP_TO_EDGE], ["COMPARE_MODE", gl.COMPARE_REF_TO_TEXTURE], ["COMPARE_FUNC", gl.LEQUAL]])
      gl.texParameteri(gl.TEXTURE_2D, gl[`TEXTURE_${name}`], value);
    this.lampBuffer = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.lampBuffer);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, this.depths, 0);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  makePicker() { // one pixel, that tells the number of the solid under the pointer
    const gl = this.gl;
    this.pickBuffer = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.pickBuffer);
    for (const [format, slot] of [[gl.RGBA8, gl.COLOR_ATTACHMENT0], [gl.DEPTH_COMPONENT24, gl.DEPTH_ATTACHMENT]]) {
      const room = gl.createRenderbuffer();
      gl.bindRenderbuffer(gl.RENDERBUFFER, room);
      gl.renderbufferStorage(gl.RENDERBUFFER, format, 1, 1);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, slot, gl.RENDERBUFFER, room);
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  makePicture() {
    const gl = this.gl, source = this.scene.floor?.image;
    this.picture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.picture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 1, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array([255, 255, 255, 255]));
    this.pictured = Promise.resolve();
    if (!source) return;
    const image = new Image();
    image.src = source;
    this.pictured = image.decode().then(() => {
      gl.bindTexture(gl.TEXTURE_2D, this.picture);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, image);
      gl.generateMipmap(gl.TEXTURE_2D);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.REPEAT);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.REPEAT);
      this.hasPicture = true;
    });
  }

  resize() {
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const [w, h] = [Math.max(1, Math.round(this.canvas.clientWidth * ratio)), Math.max(1, Math.round(this.canvas.clientHeight * ratio))];
    if (this.canvas.width !== w || this.canvas.height !== h) Object.assign(this.canvas, { width: w, height: h });
    return w / h;
  }

  each(mode, camera, models, solids) {
    const gl = this.gl, at = this.main.at;
    gl.uniform1i(at.mode, mode);
    gl.uniformMatrix4fv(at.camera, false, camera);
    for (const solid of solids) {
      const n = solid.number;
      gl.uniformMatrix4fv(at.model, false, solid.frame < 0 ? UNMOVED : models[solid.frame]);
      gl.uniform4fv(at.color, solid.color);
      gl.uniform4f(at.number, (n & 255) / 255, ((n >> 8) & 255) / 255, ((n >> 16) & 255) / 255, 1);
      if (mode === 0) gl.uniform4f(at.bright, ...this.bright, n === this.hovered || (solid.frame >= 0 && solid.frame === this.marked) ? 1 : 0);
      gl.bindVertexArray(solid.array);
      gl.drawElements(gl.TRIANGLES, solid.count, gl.UNSIGNED_INT, 0);
    }
  }

  draw({ view, eye, target, radius, projection, models, shown, theme }) {
    const gl = this.gl, at = this.main.at, { light } = this.scene;
    const toLamp = unit(light.direction), reach = 2.2 * radius;
    const up = Math.abs(toLamp[2]) > 0.99 ? [0, 1, 0] : [0, 0, 1];
    const lamp = product(parallel(reach, 0.1 * reach, 8 * reach), lookAt(add(target, times(toLamp, 4 * reach)), target, up));
    const solids = this.solids.filter(shown), whole = solids.filter((s) => s.color[3] >= 1);
    const glassy = solids.filter((s) => s.color[3] > 0 && s.color[3] < 1);
    const far = (s) => { const p = s.frame < 0 ? target : models[s.frame].slice(12, 15); return dot(minus(p, eye), minus(p, eye)); };
    glassy.sort((a, b) => far(b) - far(a));
    gl.useProgram(this.main.program);
    gl.uniform1i(at.depths, 0);
    gl.uniform1i(at.picture, 1);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.picture);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, null);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.lampBuffer);
    gl.viewport(0, 0, SHADOW, SHADOW);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    if (light.shadow) this.each(2, lamp, models, whole);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.bindTexture(gl.TEXTURE_2D, this.depths);
    this.drawSky(theme);
    gl.useProgram(this.main.program);
    gl.uniformMatrix4fv(at.lamp, false, lamp);
    gl.uniform1f(at.lift, reach / SHADOW * 3);
    gl.uniform1f(at.shadowed, light.shadow ? 1 : 0);
    gl.uniform3fv(at.eye, eye);
    gl.uniform3fv(at.toLamp, toLamp);
    this.bright = [light.ambient, light.fill, light.lamp];
    this.setLamps(models);
    const camera = product(projection, view);
    this.each(0, camera, models, whole);
    if (this.floor) this.drawFloor(camera, eye, theme);
    gl.enable(gl.BLEND);
    gl.depthMask(false);
    this.each(0, camera, models, glassy);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
    this.last = { camera, models, solids };
  }

  setLamps(models) { // places and axes in the world
    const gl = this.gl, at = this.main.at, { lamps } = this.scene;
    gl.uniform1i(at.lamps, lamps.length);
    if (!lamps.length) return;
    const frame = (lamp) => (lamp.frame < 0 ? UNMOVED : models[lamp.frame]);
    const turned = (m, [x, y, z]) => [0, 1, 2].map((i) => m[i] * x + m[4 + i] * y + m[8 + i] * z);
    const moved = (m, p) => add(turned(m, p), [m[12], m[13], m[14]]);
    gl.uniform1iv(at["lampKind[0]"], lamps.map((lamp) => lamp.kind));
    gl.uniform3fv(at["lampPlace[0]"], lamps.flatMap((lamp) => moved(frame(lamp), lamp.position)));
    gl.uniform3fv(at["lampAxis[0]"], lamps.flatMap((lamp) => turned(frame(lamp), lamp.direction)));
    gl.uniform3fv(at["lampTint[0]"], lamps.flatMap((lamp) => lamp.color));
  }

  drawSky({ top, low }) {
    const gl = this.gl;
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.useProgram(this.sky.program);
    gl.uniform3fv(this.sky.at.top, top);
    gl.uniform3fv(this.sky.at.low, low);
    gl.bindVertexArray(this.empty);
    gl.depthMask(false);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.depthMask(true);
  }

  drawFloor(camera, eye, theme) { // from below one sees through it
    const gl = this.gl, at = this.main.at, { floor } = this.scene;
    const below = dot(minus(eye, floor.origin), floor.normal) < 0;
    const [one, other] = floor.color ? [floor.color, [...times(floor.color, 0.9), floor.color[3]]] : theme.floor;
    const opacity = (c) => [c[0], c[1], c[2], below ? 0.25 * c[3] : c[3]];
    gl.uniform1i(at.mode, 1);
    gl.uniformMatrix4fv(at.camera, false, camera);
    gl.uniformMatrix4fv(at.model, false, placed(floor.quaternion, floor.origin));
    gl.uniform4fv(at.color, opacity(one));
    gl.uniform4fv(at.other, opacity(other));
    gl.uniform4f(at.bright, ...this.bright, 0);
    gl.uniform1f(at.tile, floor.tile);
    gl.uniform1f(at.edges, floor.grid ? 1 : 0);
    gl.uniform1f(at.pictured, this.hasPicture ? 1 : 0);
    gl.enable(gl.BLEND);
    gl.bindVertexArray(this.floor.array);
    gl.drawElements(gl.TRIANGLES, this.floor.count, gl.UNSIGNED_INT, 0);
    gl.disable(gl.BLEND);
  }

  under(x, y) { // the solid at a point of the canvas, from 0 to 1, or undefined
    if (!this.last) return undefined;
    const gl = this.gl, { camera, models, solids } = this.last, w = this.canvas.width, h = this.canvas.height;
    const zoom = new Float32Array([w, 0, 0, 0, 0, h, 0, 0, 0, 0, 1, 0, w * (1 - 2 * x), h * (2 * y - 1), 0, 1]);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.pickBuffer);
    gl.viewport(0, 0, 1, 1);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.useProgram(this.main.program);
    this.each(3, product(zoom, camera), models, solids.filter((s) => s.color[3] > 0));
    const pixel = new Uint8Array(4);
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return this.solids[pixel[0] + 256 * pixel[1] + 65536 * pixel[2] - 1];
  }
}

const UNMOVED = placed([1, 0, 0, 0], [0, 0, 0]);
