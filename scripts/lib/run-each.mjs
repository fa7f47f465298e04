import { node, seconds, typescriptArgs, typescriptEnv } from './run.mjs';

/**
 * Runs TypeScript programs one after the other, prints the time of each and ends non-zero when one did. A signal ends
 * the current program and skips the rest.
 * `--only NAME` picks one; the other arguments go to every program.
 *
 * @param {readonly { name: string, file: string }[]} items
 * @param {readonly string[]} args
 */
export async function runEach(items, args) {
  const { only, rest } = splitOnly(args);
  const chosen = only === undefined ? items : items.filter(({ name }) => name === only);
  if (chosen.length === 0) {
    console.error(only === undefined ? 'there is nothing to run' : `there is no ${only}`);
    console.error(`known: ${items.map(({ name }) => name).join(', ') || 'none'}`);
    process.exit(2);
  }
  const results = [];
  for (const { name, file } of chosen) {
    console.log(`== ${name}`);
    const { code, ms, stopped } = await node([...typescriptArgs(), file, ...rest], { env: typescriptEnv() });
    if (stopped !== undefined) process.exit(stopped); // Ctrl-C ends all of them, not only the current one
    results.push({ name, code, ms });
    console.log(`== ${name}: ${code === 0 ? 'passed' : `FAILED (exit ${code})`} in ${seconds(ms)}`);
  }
  const failures = results.filter(({ code }) => code !== 0);
  console.log(`${results.length - failures.length} of ${results.length} passed`);
  for (const { name, ms, code } of results)
    console.log(`  ${code === 0 ? 'ok  ' : 'FAIL'} ${seconds(ms).padStart(9)}  ${name}`);
  process.exitCode = failures.length === 0 ? 0 : 1;
}

function splitOnly(args) {
  const at = args.indexOf('--only');
  if (at < 0) return { only: undefined, rest: args };
  if (args[at + 1] === undefined) {
    console.error('--only takes a name');
    process.exit(2);
  }
  return { only: args[at + 1], rest: args.toSpliced(at, 2) };
}
