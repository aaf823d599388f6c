// Khronos' validator over some GLB files: prints a line for each, ends with 1 if any has an error or a warning.
//
// usage: node validator.mjs NODE_MODULES FILE...

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

const [modules, ...files] = process.argv.slice(2);
const validator = createRequire(`${modules}/`)("gltf-validator");
let bad = false;
for (const file of files) {
  const { issues } = await validator.validateBytes(new Uint8Array(await readFile(file)), { maxIssues: 20 });
  console.log(`${file}: ${issues.numErrors} errors, ${issues.numWarnings} warnings, ${issues.numInfos} remarks`);
  for (const { severity, code, message, pointer } of issues.messages.filter(({ severity }) => severity < 2)) {
    bad = true;
    console.log(`  ${severity === 0 ? "error" : "warning"} ${code} at ${pointer}: ${message}`);
  }
  bad ||= issues.numErrors + issues.numWarnings > 0;
}
process.exit(bad || files.length === 0 ? 1 : 0);
