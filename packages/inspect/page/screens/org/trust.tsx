/** Trust over time: one line for each observer and author, with the score after each verdict that moved it. */
import type { TrustPair } from '@reprise/operators';
import type { TrustReport } from '../../../src/contract/reports.js';
import { Empty, Shown } from '../../parts/answer.js';
import { Part } from '../../parts/facts.js';
import { FrameLink } from '../../parts/when.js';
import { hrefOf } from '../../state/router.js';
import { useReportAt } from '../../state/use-report.js';
import { safe } from '../../words/names.js';
import { amount } from '../../words/numbers.js';
import { actedBy, score } from '../memory/words.js';

/** The trust of all pairs. */
export function Trust() {
  const answer = useReportAt<TrustReport>('trust');
  return (
    <Shown of={answer} what="trust">
      {(report) => <Pairs report={report} />}
    </Shown>
  );
}

function Pairs({ report: { pairs, next } }: { readonly report: TrustReport }) {
  const range = rangeOf(pairs);
  return (
    <Part title="Trust over time" count={pairs.length}>
      {pairs.length === 0 ? (
        <Empty>Nobody has judged the work of another one yet.</Empty>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label="Trust over time">
          <table class="trust kept-in">
            <thead>
              <tr>
                <th scope="col">of whom, by whom</th>
                <th scope="col">score</th>
                <th scope="col">moved by</th>
              </tr>
            </thead>
            <tbody>
              {pairs.map((pair) => (
                <Pair key={`${pair.observer.id} ${pair.agent.id}`} pair={pair} range={range} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {next !== null && <p class="quiet">There are more pairs than are shown.</p>}
    </Part>
  );
}

/** The lowest and the highest score of a line. */
type Range = readonly [lowest: number, highest: number];

/** All lines have the same scale, so that they can be compared: that of the scores there are, and a little more. */
function rangeOf(pairs: readonly TrustPair[]): Range {
  const scores = pairs.flatMap(({ changes }) => changes.flatMap(({ trust }) => [trust.old_ppm, trust.ppm]));
  return [Math.min(TIER_LOW, ...scores) - MARGIN, Math.max(TIER_LOW, ...scores) + MARGIN];
}

/** Below this score an author is trusted little: the quiet line. */
const TIER_LOW = 600_000;
const MARGIN = 20_000;

/** The verdicts of a pair that are shown; the line has all of them. */
const SHOWN_MAX = 6;

function Pair({
  pair: { observer, agent, score_ppm, tier, observations, changes },
  range,
}: {
  readonly pair: TrustPair;
  readonly range: Range;
}) {
  const before = changes.length - SHOWN_MAX;
  return (
    <tr>
      <th scope="row">
        {safe(agent.name)} <span class="quiet">by {safe(observer.name)}</span>
      </th>
      <td>
        <Spark changes={changes} range={range} /> <span class="num">{score(score_ppm)}</span>
        <span class="quiet">
          {' '}
          {safe(tier)}, {amount(observations, 'verdict')}
        </span>
      </td>
      <td>
        <ul>
          {before > 0 && <li class="quiet">{before} before these</li>}
          {changes.slice(-SHOWN_MAX).map((change) => (
            <Change key={`${change.frame} ${change.item} ${change.trust.ppm}`} of={change} />
          ))}
        </ul>
      </td>
    </tr>
  );
}

function Change({ of: { verdict, item, by, frame, trust } }: { readonly of: TrustPair['changes'][number] }) {
  const at = item.lastIndexOf('#');
  return (
    <li>
      <span class="num">
        {score(trust.old_ppm)} → {score(trust.ppm)}
      </span>{' '}
      <span class={verdict === 'wrong' ? 'bad' : ''}>{verdict === 'retract' ? 'taken back' : verdict}</span>{' '}
      <a href={hrefOf({ screen: 'memory', parts: [item.slice(0, at), item.slice(at + 1)], query: { sel: null } })}>
        {safe(item.replace(/^group:/, ''))}
      </a>
      {by !== null && <span class="quiet"> {actedBy(by)}</span>}, <FrameLink frame={frame} />
    </li>
  );
}

const [WIDTH, HEIGHT] = [96, 22];

/** The scores as a line: a step at each verdict. */
function Spark({
  changes,
  range: [lowest, highest],
}: {
  readonly changes: TrustPair['changes'];
  readonly range: Range;
}) {
  const scores = [changes[0]?.trust.old_ppm ?? 0, ...changes.map(({ trust }) => trust.ppm)];
  const x = (i: number) => (i / (scores.length - 1)) * (WIDTH - 6) + 3;
  const y = (ppm: number) => HEIGHT - 3 - ((ppm - lowest) / (highest - lowest)) * (HEIGHT - 6);
  const points = scores.flatMap((ppm, i) =>
    (i === 0 ? [] : [`${x(i)},${y(scores[i - 1] ?? 0)}`]).concat(`${x(i)},${y(ppm)}`),
  );
  const label = `Score after each verdict: ${scores.map(score).join(', ')}`;
  return (
    <svg class="spark" width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
      <line class="half" x1="0" x2={WIDTH} y1={y(TIER_LOW)} y2={y(TIER_LOW)} />
      <polyline points={points.join(' ')} />
      <circle cx={x(scores.length - 1)} cy={y(scores.at(-1) ?? 0)} r="2.5" />
    </svg>
  );
}
