/**
 * Replays every scenario from its recorded wire bytes and compares it with its golden head:
 *
 *   npx tsx --conditions=@reprise/source conformance/scenarios/check.ts [--json] [--write] [--local time|words]
 *
 * `--json` prints what was computed and compares nothing. `--write` pins it: only for a change that is meant to change
 * derived bytes, in the commit that makes the change, or with a new recording (`record.ts`). `--local` is the broken
 * mutant of the check in other places: tools answer as people there write the time or a number.
 */
import { parseArgs } from 'node:util';
import type { Tool } from 'reprise';
import { computeGoldens, readGoldens, writeGoldens } from './goldens.js';
import { singleTool } from './matrix/single-tool.js';

const { values } = parseArgs({
  options: { json: { type: 'boolean' }, write: { type: 'boolean' }, local: { type: 'string' } },
});
const localAnswer = () => (values.local === 'time' ? String(new Date(0)) : (0.5).toLocaleString());
const local = { exactly: false, wrapTool: (tool: Tool): Tool => ({ ...tool, run: localAnswer }) };
const computed = values.local === undefined ? await computeGoldens() : await computeGoldens([singleTool], local);
if (values.write === true) writeGoldens(computed);
if (values.json === true) console.log(JSON.stringify(computed));
else {
  const known = readGoldens();
  for (const [name, byProfile] of Object.entries(computed)) {
    for (const [profile, golden] of Object.entries(byProfile)) {
      const pinned = known[name]?.[profile as keyof typeof byProfile];
      const equal = JSON.stringify(golden) === JSON.stringify(pinned);
      if (!equal) process.exitCode = 1;
      console.log(`${equal ? 'equal    ' : 'DIFFERENT'} ${name} ${profile}: ${golden.frames} frames, ${golden.head}`);
    }
  }
}
process.exit();
