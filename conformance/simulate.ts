/** `npm run simulate -- [--seeds N] [--from S] [--subject NAME]`: the fault simulator. See its how-to. */
import { parseArgs } from 'node:util';
import { formatFailure, simulate } from '@reprise/testkit';
import { SUBJECTS } from './simulator/subjects.js';

const { values: options } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    subject: { type: 'string', multiple: true },
    shrink: { type: 'boolean', default: true },
  },
  allowNegative: true,
});
const [seeds, from] = [Number(options.seeds), Number(options.from)];
const chosen = SUBJECTS.filter(({ name }) => options.subject?.includes(name) ?? true);
for (const subject of chosen) {
  const began = performance.now();
  const report = await simulate(subject, { seeds, from, shrink: options.shrink });
  const seconds = (performance.now() - began) / 1000;
  const { runs, frames, acks, refused, effects, sometimes, failure } = report;
  for (const [what, times] of [...sometimes.met].sort()) console.log(`  ${String(times).padStart(9)}  ${what}`);
  console.log(
    `${subject.name}: ${runs} runs, ${frames} frames, ${effects} effects, ${acks} acknowledged, ${refused} refused; ${(runs / seconds).toFixed(1)} runs/s`,
  );
  if (failure !== undefined) {
    console.error(
      formatFailure(failure, `npm run simulate -- --subject ${subject.name} --from ${failure.seed} --seeds 1`),
    );
    process.exitCode = 1;
  } else if (sometimes.missing.length > 0 && runs >= 1_000) {
    console.error(`never came across: ${sometimes.missing.join('; ')}`);
    process.exitCode = 1;
  }
}
