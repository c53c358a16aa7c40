// One program draws everything: solids, the floor's tiles, depths for shadows, and numbers for what is under the pointer.
const VERTEX = `#version 300 es
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
uniform mat4 model, camera, lamp;
uniform float lift;
out vec3 local, world, turned;
out vec4 shade;
void main() {
  vec4 at = model * vec4(position, 1.0);
  local = position;
  world = at.xyz;
  turned = mat3(model) * normal;
  shade = lamp * vec4(at.xyz + lift * normalize(turned), 1.0);
  gl_Position = camera * at;
}`;

const FRAGMENT = `#version 300 es
precision highp float;
precision highp sampler2DShadow;
in vec3 local, world, turned;
in vec4 shade;
uniform int mode;                 // 0 solid, 1 floor, 2 depth, 3 number
uniform vec4 color, other, number;
uniform vec3 eye, toLamp;
uniform vec4 bright;              // ambient, fill, lamp, highlight of what is under the pointer
uniform float tile, shadowed, pictured, edges;
uniform int lamps;
uniform int lampKind[8];          // 0 point, 1 spot, 2 directional
uniform vec3 lampPlace[8], lampAxis[8], lampTint[8];
uniform sampler2DShadow depths;
uniform sampler2D picture;
out vec4 pixel;

vec3 linear(vec3 c) { return pow(c, vec3(2.2)); }

float lit() {                     // share of nine points of the depth map that see the lamp
  vec3 at = shade.xyz / shade.w * 0.5 + 0.5;
  if (shadowed < 0.5 || any(lessThan(at, vec3(0.0))) || any(greaterThan(at, vec3(1.0)))) return 1.0;
  float sum = 0.0, step = 1.0 / float(textureSize(depths, 0).x);
  for (int i = -1; i <= 1; i++)
    for (int j = -1; j <= 1; j++) sum += texture(depths, vec3(at.xy + step * vec2(i, j), at.z - 0.0006));
  return sum / 9.0;
}

float chequer(vec2 p) {           // share of the other colour in a pixel: a box filter (the integral of a square wave)
  vec2 w = max(fwidth(p), 1e-4);
  vec2 i = 2.0 * (abs(fract((p - 0.5 * w) * 0.5) - 0.5) - abs(fract((p + 0.5 * w) * 0.5) - 0.5)) / w;
  return 0.5 - 0.5 * i.x * i.y;
}

float line(vec2 p) {              // thin lines between tiles, that fade where tiles get as small as pixels
  vec2 w = fwidth(p), near = abs(fract(p - 0.5) - 0.5) / max(w, 1e-4);
  return (1.0 - min(min(near.x, near.y), 1.0)) * clamp(1.0 - 4.0 * max(w.x, w.y), 0.0, 1.0);
}

void main() {
  if (mode == 2) { pixel = vec4(1.0); return; }
  if (mode == 3) { pixel = number; return; }
  vec3 n = normalize(turned), look = normalize(eye - world);
  if (dot(n, look) < 0.0) n = -n; // surfaces that enclose nothing have two sides
  vec4 base = color;
  if (mode == 1) {
    vec2 p = local.xy / tile;
    if (pictured > 0.5) base = vec4(texture(picture, vec2(p.x, -p.y)).rgb, color.a);
    else if (edges > 0.5) {
      base = mix(color, other, chequer(p));
      base.rgb *= 1.0 - 0.18 * line(p);
    }
  }
  float side = dot(n, toLamp);
  float lamp = max(side, 0.0) * (side > 0.0 ? lit() : 0.0);
  float light = bright.x * (0.7 + 0.35 * n.z) + bright.y * max(dot(n, look), 0.0) + 0.75 * bright.z * lamp;
  vec3 shown = linear(base.rgb) * light;
  if (mode == 0) shown += 0.08 * bright.z * lamp * pow(max(dot(normalize(look + toLamp), n), 0.0), 40.0);
  for (int i = 0; i < lamps; i++) {
    vec3 back = normalize(lampKind[i] == 2 ? -lampAxis[i] : lampPlace[i] - world);
    float cone = lampKind[i] == 1 ? smoothstep(0.84, 0.88, dot(-back, lampAxis[i])) : 1.0; // 30 degrees
    float facing = max(dot(n, back), 0.0);
    shown += 0.75 * cone * facing * lampTint[i] * linear(base.rgb);
    if (mode == 0) shown += 0.08 * cone * facing * lampTint[i] * pow(max(dot(normalize(look + back), n), 0.0), 40.0);
  }
  shown += bright.w * vec3(0.10, 0.14, 0.22);
  pixel = vec4(pow(shown, vec3(1.0 / 2.2)), base.a);
}`;

const SKY_VERTEX = `#version 300 es
out float high;
void main() {
  vec2 p = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
  high = p.y * 0.5 + 0.5;
  gl_Position = vec4(p, 0.9999, 1.0);
}`;

const SKY_FRAGMENT = `#version 300 es
precision highp float;
in float high;
uniform vec3 low, top;
out vec4 pixel;
void main() {
  float noise = fract(sin(dot(gl_FragCoord.xy, vec2(12.9898, 78.233))) * 43758.5453) / 255.0; // no bands
  pixel = vec4(mix(low, top, high) + noise - 0.5 / 255.0, 1.0);
}`;
