// Plays a GLB in three.js in a headless Chromium and compares every vertex at one frame.
//
// usage: node three.mjs NODE_MODULES CHROMIUM GLB EXPECTED VERTEX_COUNT SECONDS TOLERANCE PICTURE
//
// EXPECTED holds two sets of vertices as little-endian f32: at the first frame, and at SECONDS. Ends with 1 and says what
// differs if anything does, or if the page complains.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, chromium, glb, expectedFile, vertexText, secondsText, toleranceText, picture] = process.argv.slice(2);
const { default: puppeteer } = await import(pathToFileURL(`${modules}/puppeteer-core/lib/esm/puppeteer/puppeteer-core.js`));

const page_text = `<!doctype html><meta charset="utf-8"><style>body { margin: 0 }</style>
<script type="importmap">{ "imports": { "three": "/modules/three/build/three.module.js", "three/addons/": "/modules/three/examples/jsm/" } }</script>
<script type="module">
import * as THREE from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";
const renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
renderer.setSize(640, 480);
document.body.append(renderer.domElement);
const gltf = await new GLTFLoader().loadAsync("/scene.glb");
const scene = new THREE.Scene();
scene.background = new THREE.Color(0xf0f0f0);
scene.add(gltf.scene, new THREE.HemisphereLight(0xffffff, 0x888888, 2));
const sun = new THREE.DirectionalLight(0xffffff, 2);
sun.position.set(1, 2, 1.5);
scene.add(sun);
const mixer = new THREE.AnimationMixer(gltf.scene);
gltf.animations.forEach((clip) => mixer.clipAction(clip).play());
const meshes = [];
gltf.scene.traverse((object) => { if (object.isMesh) meshes.push(object); });
window.verticesAt = (seconds) => {
  mixer.setTime(seconds);
  scene.updateMatrixWorld(true);
  const point = new THREE.Vector3();
  return meshes.map((mesh) => {
    const vertices = [];
    for (let v = 0; v < mesh.geometry.attributes.position.count; v += 1) {
      mesh.getVertexPosition(v, point).applyMatrix4(mesh.matrixWorld);
      vertices.push([point.x, point.y, point.z]);
    }
    return vertices;
  });
};
window.draw = () => {
  const box = new THREE.Box3().setFromObject(gltf.scene, true);
  const [middle, size] = [box.getCenter(new THREE.Vector3()), box.getSize(new THREE.Vector3()).length()];
  const camera = new THREE.PerspectiveCamera(35, 4 / 3, 0.01 * size, 10 * size);
  camera.position.copy(middle).add(new THREE.Vector3(0.6, 0.9, 1.2).multiplyScalar(size));
  camera.lookAt(middle);
  renderer.render(scene, camera);
  return renderer.getContext().getError();
};
window.about = () => ({
  clips: gltf.animations.map((clip) => clip.duration),
  materials: meshes.map((mesh) => [mesh.material.name, mesh.material.metalness, mesh.material.side]),
});
window.ready = true;
</script>`;

const server = createServer(async (request, response) => {
  const path = decodeURIComponent(request.url.split("?")[0]);
  try {
    if (path === "/") return response.setHeader("content-type", "text/html").end(page_text);
    if (path === "/favicon.ico") return response.writeHead(204).end();
    const file = path === "/scene.glb" ? glb : join(modules, path.replace(/^\/modules\//, ""));
    const content = await readFile(file);
    const type = file.endsWith(".js") ? "text/javascript" : "application/octet-stream";
    return response.setHeader("content-type", type).end(content);
  } catch {
    return response.writeHead(404).end();
  }
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));

const problems = [];
const profile = await mkdtemp(join(tmpdir(), "kiln-chromium-"));
const browser = await puppeteer.launch({
  executablePath: chromium,
  userDataDir: profile,
  args: [
    "--headless", "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
  ],
});
try {
  const page = await browser.newPage();
  await page.setViewport({ width: 640, height: 480 });
  page.on("pageerror", (error) => problems.push(`page error: ${error.message}`));
  page.on("requestfailed", (request) => problems.push(`not loaded: ${request.url()}`));
  page.on("console", (message) => {
    const text = message.text();
    // Reading pixels back is what a screenshot does; everything else that GL or three.js says is about our file.
    if (message.type() === "error" || (/THREE|GL_|INVALID/.test(text) && !/ReadPixels|GPU stall/.test(text))) {
      problems.push(`console: ${text}`);
    }
  });
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await page.waitForFunction("window.ready === true", { timeout: 30000 });
  console.log(JSON.stringify(await page.evaluate("window.about()")));

  const numbers = new Float32Array(new Uint8Array(await readFile(expectedFile)).buffer);
  const vertexCount = Number(vertexText);
  const expected = (set, v) => numbers.subarray(3 * (set * vertexCount + v), 3 * (set * vertexCount + v) + 3);
  const apart = (a, b) => Math.max(...[0, 1, 2].map((axis) => Math.abs(a[axis] - b[axis])));
  const first = await page.evaluate("window.verticesAt(0)");
  const later = await page.evaluate(`window.verticesAt(${secondsText})`);
  let worst = 0;
  let compared = 0;
  first.forEach((vertices, mesh) => vertices.forEach((vertex, v) => {
    // Which vertex of the store it is, by its place in the first frame.
    let nearest = 0;
    for (let k = 1; k < vertexCount; k += 1) {
      if (apart(vertex, expected(0, k)) < apart(vertex, expected(0, nearest))) nearest = k;
    }
    worst = Math.max(worst, apart(vertex, expected(0, nearest)), apart(later[mesh][v], expected(1, nearest)));
    compared += 1;
  }));
  console.log(`three.js: worst error ${worst} over ${compared} vertices of ${first.length} meshes`);
  if (!(worst <= Number(toleranceText)) || compared === 0) problems.push(`vertices differ by ${worst}`);
  const glError = await page.evaluate("window.draw()");
  if (glError !== 0) problems.push(`WebGL error ${glError}`);
  await page.screenshot({ path: picture });
} finally {
  await browser.close();
  server.close();
  await rm(profile, { recursive: true, force: true });
}
problems.forEach((problem) => console.log(problem));
process.exit(problems.length > 0 ? 1 : 0);
