// The page: camera, player, labels, keys. `window.cbsim` lets a program look and steer, as the tests do.
const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8];
const HELP = [
  ["drag", "turn"], ["right drag, or shift", "move"], ["wheel", "nearer, further"], ["space", "play, pause"],
  ["← →", "a frame back, on (shift: ten)"], ["Home, End", "first, last frame"], ["↑ ↓", "faster, slower"],
  ["R", "look as at the start"], ["F", "follow the robot"], ["L", "names of all bodies"], ["D", "light or dark"],
];
const THEMES = {
  light: { top: [0.80, 0.87, 0.94], low: [0.965, 0.972, 0.98], floor: [[0.90, 0.915, 0.93, 1], [0.82, 0.84, 0.865, 1]] },
  dark: { top: [0.10, 0.125, 0.16], low: [0.055, 0.066, 0.082], floor: [[0.27, 0.295, 0.33, 1], [0.215, 0.24, 0.275, 1]] },
};

class Page extends Player {
  constructor(scene, bytes) {
    super();
    this.scene = scene;
    this.motion = new Motion(scene, bytes);
    const solids = scene.solids.map((s) => ({
      ...s, key: `${s.vertices.at} ${s.faces.at}`, vertices: () => unpack(bytes, s.vertices), faces: () => unpack(bytes, s.faces),
    }));
    this.renderer = new Renderer($("view"), scene, solids);
    this.renderer.pictured.then(() => this.wake());
    this.start(this.motion.times, SPEEDS);
    this.hidden = new Set();
    this.follow = scene.camera.follow;
    this.named = false;
    this.dark = matchMedia("(prefers-color-scheme: dark)").matches;
    this.home();
    this.controls();
    this.pointer();
    this.keys();
    new ResizeObserver(() => this.wake()).observe($("view"));
    this.play(!matchMedia("(prefers-reduced-motion: reduce)").matches);
  }

  home() { // look as at the start, around where the robot is now
    const { position, look_at } = this.scene.camera, arm = minus(position, look_at);
    this.target = [...look_at];
    this.distance = Math.hypot(...arm);
    this.around = Math.atan2(arm[1], arm[0]);
    this.above = Math.asin(arm[2] / this.distance);
    this.seen = this.anchor(this.motion.times[0]);
    this.wake();
  }

  anchor(time) { return this.motion.frames.length ? this.motion.pose(time, 0).position : [0, 0, 0]; }

  eye() {
    const flat = Math.cos(this.above);
    return add(this.target, times([flat * Math.cos(this.around), flat * Math.sin(this.around), Math.sin(this.above)], this.distance));
  }

  controls() {
    const { motion } = this, last = motion.times.length - 1;
    const tile = this.scene.floor?.grid ? `tiles of ${Number(this.scene.floor.tile.toPrecision(6))} m` : "";
    $("scale").textContent = [`${motion.frames.length} ${motion.frames.length === 1 ? "body" : "bodies"}`, tile].filter(Boolean).join(" · ");
    $("player").hidden = last < 1;
    $("speed").addEventListener("change", () => $("view").focus());
    const kinds = new Set(this.scene.solids.map((s) => s.kind));
    for (const [kind, text] of [["contact", "contacts"], ["joint", "joints"], ["frame", "frames"]])
      if (kinds.has(kind)) this.toggle(text, () => !this.hidden.has(kind), () => this.hidden.delete(kind) || this.hidden.add(kind));
    this.naming = this.toggle("names", () => this.named, () => { this.named = !this.named; });
    if (last > 0) this.following = this.toggle("follow", () => this.follow, () => { this.follow = !this.follow; });
    this.theming = this.toggle("dark", () => this.dark, () => { this.dark = !this.dark; });
    this.helping = this.toggle("?", () => !$("help").hidden, () => { $("help").hidden = !$("help").hidden; });
    $("help").append(...HELP.flatMap((row) => row.map((text, i) => Object.assign(document.createElement(i ? "dd" : "dt"), { textContent: text }))));
  }

  toggle(text, is, change) {
    const button = document.createElement("button");
    button.textContent = text;
    const tell = () => button.setAttribute("aria-pressed", is());
    button.onclick = () => { change(); tell(); this.wake(); };
    tell();
    $("toggles").append(button);
    return button;
  }

  pointer() {
    const view = $("view"), fingers = new Map();
    let spread = 0;
    view.onpointerdown = (e) => { view.setPointerCapture(e.pointerId); fingers.set(e.pointerId, [e.clientX, e.clientY]); view.classList.add("dragged"); spread = 0; };
    view.onpointerup = view.onpointercancel = (e) => { fingers.delete(e.pointerId); view.classList.toggle("dragged", fingers.size > 0); };
    view.oncontextmenu = (e) => e.preventDefault();
    view.onpointerleave = () => { this.at = null; this.wake(); };
    view.onwheel = (e) => { e.preventDefault(); this.nearer(Math.exp(Math.max(-100, Math.min(100, e.deltaY)) * 0.0015)); };
    view.onpointermove = (e) => {
      this.at = [e.clientX, e.clientY];
      const from = fingers.get(e.pointerId);
      if (!from) return this.wake();
      const [dx, dy] = [e.clientX - from[0], e.clientY - from[1]];
      fingers.set(e.pointerId, [e.clientX, e.clientY]);
      if (fingers.size === 2) {
        const [a, b] = [...fingers.values()], now = Math.hypot(a[0] - b[0], a[1] - b[1]);
        if (spread) this.nearer(spread / now);
        spread = now;
        this.shift(dx / 2, dy / 2);
      } else if (e.buttons & 6 || e.shiftKey) this.shift(dx, dy);
      else {
        this.around -= dx * 0.007;
        this.above = Math.max(-1.55, Math.min(1.55, this.above + dy * 0.007));
      }
      this.wake();
    };
  }

  nearer(factor) {
    const radius = this.scene.camera.radius;
    this.distance = Math.max(0.02 * radius, Math.min(200 * radius, this.distance * factor));
    this.wake();
  }

  shift(dx, dy) { // the point under the pointer stays there
    const back = unit(minus(this.eye(), this.target)), right = unit(cross([0, 0, 1], back)), up = cross(back, right);
    const metre = 2 * this.distance * Math.tan(this.scene.camera.field / 2) / $("view").clientHeight;
    this.target = add(this.target, add(times(right, -dx * metre), times(up, dy * metre)));
  }

  keys() {
    const frame = (n) => () => this.step(n);
    const speed = (n) => () => {
      const box = $("speed");
      box.selectedIndex = Math.max(0, Math.min(SPEEDS.length - 1, box.selectedIndex + n));
      this.speed = +box.value;
    };
    const press = (button) => () => button?.click();
    const does = {
      " ": () => this.play(!this.playing), Home: () => this.frame(0), End: () => this.frame(Infinity),
      ArrowUp: speed(1), ArrowDown: speed(-1), r: () => this.home(), f: press(this.following), l: press(this.naming),
      d: press(this.theming), "?": press(this.helping),
    };
    addEventListener("keydown", (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey || e.target.tagName === "SELECT" || (e.key === " " && e.target.tagName === "BUTTON")) return;
      const act = { ArrowLeft: frame(e.shiftKey ? -10 : -1), ArrowRight: frame(e.shiftKey ? 10 : 1) }[e.key] ?? does[e.key.length > 1 ? e.key : e.key.toLowerCase()];
      if (!act) return;
      e.preventDefault();
      act();
    });
  }

  draw() {
    const { motion, scene } = this, aspect = this.renderer.resize();
    const anchor = this.anchor(this.time);
    if (this.follow) this.target = add(this.target, minus(anchor, this.seen));
    this.seen = anchor;
    const dark = this.dark ? "dark" : "light", theme = { ...THEMES[dark], ...(scene.background ?? {}) };
    document.documentElement.dataset.theme = dark;
    const eye = this.eye(), far = this.distance + 60 * scene.camera.radius + (scene.floor ? Math.hypot(...scene.floor.size) : 0);
    this.view = lookAt(eye, this.target, [0, 0, 1]);
    const field = aspect < 1 ? 2 * Math.atan(Math.tan(scene.camera.field / 2) / aspect) : scene.camera.field; // narrow pages too
    this.projection = perspective(field, aspect, Math.max(this.distance / 200, far / 1e5), far);
    const models = motion.frames.map((_, i) => { const p = motion.pose(this.time, i); return placed(p.orientation, p.position); });
    this.renderer.draw({
      view: this.view, projection: this.projection, eye, target: this.target, radius: scene.camera.radius, models, theme,
      shown: (s) => !this.hidden.has(s.kind),
    });
    this.tell(3, ` · ${this.index() + 1}/${this.times.length}`);
    this.point();
    this.label();
  }

  point() { // tell what is under the pointer; it is marked in the next picture
    const solid = this.at && !$("view").classList.contains("dragged")
      ? this.renderer.under(this.at[0] / $("view").clientWidth, this.at[1] / $("view").clientHeight) : undefined;
    const hovered = solid?.number ?? 0, marked = solid?.frame ?? -1;
    if (hovered !== this.renderer.hovered || marked !== this.renderer.marked) {
      Object.assign(this.renderer, { hovered, marked });
      this.wake();
    }
    $("tip").hidden = !solid;
    if (!solid) return;
    const where = solid.frame < 0 ? "" : "\n" + this.motion.pose(this.time, solid.frame).position.map((c) => c.toFixed(3)).join("  ") + " m";
    const kind = { shape: "", inertia: " (its inertia)", contact: " · contact", joint: " · joint", frame: " · axis" }[solid.kind] ?? "";
    $("tip").textContent = (solid.frame < 0 ? solid.name : this.motion.frames[solid.frame]) + kind + where;
    const box = $("tip").getBoundingClientRect(); // stay on the page
    $("tip").style.left = `${Math.min(this.at[0] + 14, innerWidth - box.width - 4)}px`;
    $("tip").style.top = `${Math.min(this.at[1] + 16, innerHeight - box.height - 4)}px`;
  }

  project(p) { // of a point of the world to the page [px]; null behind the camera
    const [x, y, , w] = applied(product(this.projection, this.view), p);
    return w <= 0 ? null : [(x / w * 0.5 + 0.5) * $("view").clientWidth, (0.5 - y / w * 0.5) * $("view").clientHeight];
  }

  label() { // names of bodies; one that would cover another is left out
    const room = $("labels");
    room.replaceChildren();
    if (!this.named) return;
    const taken = [];
    this.motion.frames.forEach((name, i) => {
      const at = this.project(this.motion.pose(this.time, i).position), text = name.slice(name.indexOf("/") + 1);
      if (!at || taken.some(([x, y, w]) => Math.abs(x - at[0]) < (w + text.length * 7 + 12) / 2 && Math.abs(y - at[1]) < 19)) return;
      taken.push([...at, text.length * 7 + 12]);
      const span = document.createElement("span");
      span.textContent = text;
      span.style.left = `${at[0]}px`;
      span.style.top = `${at[1]}px`;
      room.append(span);
    });
  }
}

const ready = (async () => {
  const scene = JSON.parse($("data").textContent);
  const page = new Page(scene, await inflate(scene.data));
  $("view").addEventListener("webglcontextlost", () => fail(new Error("The graphics driver gave up. Load the page again.")));
  return page;
})();
ready.catch(fail);
window.cbsim = {
  ready: ready.then((page) => {
    page.draw(); // there is a picture, and a projection, before the first animation frame
    Object.assign(window.cbsim, {
      frames: page.motion.frames, times: Array.from(page.motion.times), page,
      seek: (k) => { page.play(false); page.frame(k); page.draw(); },
      show: (time) => { page.play(false); page.time = time; page.draw(); },
      pose: (name) => page.motion.pose(page.time, page.motion.frames.indexOf(name)),
      project: (point) => page.project(point),
      play: (on = true) => page.play(on),
    });
    return true;
  }),
};
window.cbsim.ready.catch(() => {});
