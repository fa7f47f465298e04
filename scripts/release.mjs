/*
 * `npm run release -- --dry [--built]`: everything of a release but its publication. Builds (unless `--built`), lays the
 * one package out, packs it, checks the tarball (content, publint, types by @arethetypeswrong), installs it in an empty
 * project and uses it there, and writes the page of the release. What it makes is left in `release/`. Needs the registry.
 */
import './lib/node-version.mjs';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { workspacePackages } from './lib/packages.mjs';
import { ROOT } from './lib/root.mjs';
import { node, npm, seconds } from './lib/run.mjs';
import { contentProblems, unpacked } from './lib/tarball-content.mjs';
import { lintProblems, typeProblems } from './lib/tarball-lint.mjs';
import { installedProblems } from './release/installed.mjs';
import { layOut } from './release/layout.mjs';
import { releasePage } from './release/page.mjs';

const OUT = path.join(ROOT, 'release');

if (!process.argv.includes('--dry')) {
  console.error('release: nothing is published from a clone. Run `npm run release -- --dry` to see what would be;');
  console.error('a tag vX.Y.Z publishes it, by .github/workflows/release.yml, with its provenance.');
  process.exit(2);
}

const started = performance.now();
if (!process.argv.includes('--built')) await must('the build', await node([path.join(ROOT, 'scripts/build.mjs')]));

await rm(OUT, { recursive: true, force: true });
const manifest = await layOut(await workspacePackages(), path.join(OUT, 'package'));
const tarball = await pack(manifest);
const problems = [
  ...contentProblems(tarball.files),
  ...(await lintProblems({ manifest, bytes: tarball.bytes })),
  ...(await typeProblems({ bytes: tarball.bytes })),
];
const scratch = await mkdtemp(path.join(os.tmpdir(), 'reprise-release-'));
try {
  problems.push(...(await installedProblems(path.join(scratch, 'app'), tarball.file, manifest)));
} finally {
  await rm(scratch, { recursive: true, force: true });
}
const changes = await readFile(path.join(ROOT, 'CHANGELOG.md'), 'utf8');
await writeFile(path.join(OUT, 'RELEASE.md'), releasePage({ manifest, changes, ...tarball }));

for (const problem of problems) console.error(`release: ${problem}`);
console.log(
  `release: ${manifest.name} ${manifest.version}, ${megabytes(tarball.bytes.length)} packed, ` +
    `${megabytes(tarball.size)} in ${tarball.files.size} files, checked in ${seconds(performance.now() - started)}, ` +
    `${problems.length} problems; see release/RELEASE.md`,
);
process.exitCode = problems.length === 0 ? 0 : 1;

async function pack({ name, version }) {
  await mkdir(OUT, { recursive: true });
  const folder = path.join(OUT, 'package');
  await must('npm pack', await npm(['pack', folder, '--pack-destination', OUT, '--silent']));
  const file = path.join(OUT, `${name}-${version}.tgz`);
  const bytes = await readFile(file);
  const files = unpacked(bytes);
  const size = [...files.values()].reduce((sum, one) => sum + one.length, 0);
  return { file, bytes, files, size, integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}` };
}

async function must(what, { code }) {
  if (code === 0) return;
  console.error(`release: ${what} failed (exit ${code})`);
  process.exit(code);
}

function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
