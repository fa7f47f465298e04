/*
 * The functions that run, and how often: V8's precise coverage of the bundle in which this file itself stands. The
 * bundler says in a comment which file each part comes from.
 */
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector';

const FROM_FILE = /^\/\/ .*?((?:packages|scripts|node_modules)\/\S+)$/gm;

/**
 * Runs some work and counts.
 *
 * @param {() => Promise<unknown>} work
 * @returns {Promise<{ file: string, name: string, line: number, calls: number }[]>} the functions of the packages that
 *   ran, by file
 */
export async function coverage(work) {
  const session = new Session();
  session.connect();
  post(session, 'Profiler.enable');
  post(session, 'Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  post(session, 'Profiler.takePreciseCoverage'); // what ran before
  await work();
  const { result } = post(session, 'Profiler.takePreciseCoverage');
  session.disconnect();
  const own = result.find(({ url }) => url === import.meta.url);
  const fileAt = filesOf(readFileSync(new URL(import.meta.url), 'utf8'));
  return own.functions
    .map(({ functionName: name, ranges: [{ startOffset, count: calls }] }) => ({ ...fileAt(startOffset), name, calls }))
    .filter(({ file, calls }) => calls > 0 && file.startsWith('packages/'));
}

/** A session with its own thread answers before `post` returns; its promises would wait for an event loop that is idle. */
function post(session, method, options) {
  let answer;
  session.post(method, options, (error, result) => {
    if (error !== null) throw error;
    answer = result;
  });
  return answer;
}

/** Tells of an offset in a bundle in which file it is, and in which line of the bundle. */
function filesOf(source) {
  const starts = [...source.matchAll(FROM_FILE)].map(({ index, 1: file }) => ({ index, file }));
  return (offset) => ({
    file: starts.findLast(({ index }) => index <= offset)?.file ?? '',
    line: source.slice(0, offset).split('\n').length,
  });
}
