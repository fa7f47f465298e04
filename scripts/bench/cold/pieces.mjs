/*
 * The pieces of a program that is bundled with code splitting, by when they are loaded: with its first line, in its run,
 * or on a request that it does not make.
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

/** Stands in each piece, and says that it is loaded; it is not counted. */
const MARK = '(globalThis.pieces??=[]).push(import.meta.url);';

/** Loaded before the program: a model that answers one text, and a report at the end. */
const STAGE = `
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
globalThis.require = createRequire(import.meta.url); // packages of CommonJS ask for it
const answer = { id: 'm', type: 'message', role: 'assistant', model: 'a-model', stop_reason: 'end_turn', stop_sequence: null,
  content: [{ type: 'text', text: 'Hello.' }], usage: { input_tokens: 1, output_tokens: 1 } };
const events = [
  { type: 'message_start', message: { ...answer, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello.' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
];
globalThis.fetch = async (_address, { body }) => {
  const { stream } = JSON.parse(await new Response(body).text());
  if (stream !== true) return Response.json(answer);
  const text = events.map((event) => 'event: ' + event.type + '\\ndata: ' + JSON.stringify(event) + '\\n\\n').join('');
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
};
process.on('exit', () => writeFileSync(process.env.PIECES, JSON.stringify(globalThis.pieces)));
`;

/**
 * The bytes of a bundled, minified program by gzip, each file compressed by itself: of its entry and what that imports
 * statically, of all that a run loads in which a model answers with one text, and of one file with everything.
 *
 * @param {string} entry the program, by its absolute path
 * @param {import('esbuild').BuildOptions} [options] further options
 * @returns {Promise<{ entry: number, run: number, whole: number }>}
 */
export async function piecesOf(entry, options = {}) {
  const folder = await mkdtemp(path.join(tmpdir(), 'reprise-pieces-'));
  const common = /** @type {const} */ ({
    entryPoints: { main: entry },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    legalComments: 'none',
    logLevel: 'error',
    external: ['node:*', 'libsql', 'esbuild', '@modelcontextprotocol/client', '@modelcontextprotocol/server'],
    ...options,
  });
  try {
    const whole = await build({ ...common, write: false });
    const banner = { js: MARK };
    const split = await build({ ...common, banner, splitting: true, outdir: folder, metafile: true });
    return {
      entry: await zipped(imported(split.metafile)),
      run: await zipped(await loaded(folder)),
      whole: gzipSync(whole.outputFiles[0]?.contents ?? new Uint8Array(), { level: 9 }).length,
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** @param {import('esbuild').Metafile} metafile @returns {string[]} the file of the program and those that it imports */
function imported({ outputs }) {
  const first = Object.keys(outputs).filter((file) => path.basename(file) === 'main.js');
  const found = new Set(first);
  for (const file of found)
    for (const { path: next, kind } of outputs[file]?.imports ?? [])
      if (kind === 'import-statement' && outputs[next] !== undefined) found.add(next);
  return [...found].map((file) => path.resolve(file));
}

/** @param {string} folder @returns {Promise<string[]>} the files that a run of the program loads */
async function loaded(folder) {
  const [stage, report] = [path.join(folder, 'stage.mjs'), path.join(folder, 'report.json')];
  await writeFile(stage, STAGE);
  await writeFile(path.join(folder, 'package.json'), '{"type":"module"}');
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--import', pathToFileURL(stage).href, path.join(folder, 'main.js')],
    { encoding: 'utf8', env: { ...process.env, PIECES: report }, timeout: 120_000 },
  );
  if (status !== 0) throw new Error(`the bundled program failed: ${stderr}`);
  const pieces = /** @type {string[]} */ (JSON.parse(await readFile(report, 'utf8')));
  return pieces.map((piece) => new URL(piece).pathname);
}

/** @param {readonly string[]} files @returns {Promise<number>} */
async function zipped(files) {
  let bytes = 0;
  for (const file of files) {
    const text = (await readFile(file, 'utf8')).replace(MARK, '');
    bytes += gzipSync(text, { level: 9 }).length;
  }
  return bytes;
}
