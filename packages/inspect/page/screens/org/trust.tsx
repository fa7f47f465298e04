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
      {({ pairs, next }) => (
        <Part title="Trust over time" count={pairs.length}>
          {pairs.length === 0 ? (
            <Empty>Nobody has judged the work of another one yet.</Empty>
          ) : (
            <div class="scroll" tabIndex={0} role="region" aria-label="Trust over time">
              <table class="trust">
                <thead>
                  <tr>
                    <th scope="col">of whom, by whom</th>
                    <th scope="col">score</th>
                    <th scope="col">moved by</th>
                  </tr>
                </thead>
                <tbody>
                  {pairs.map((pair) => (
                    <Pair key={`${pair.observer.id} ${pair.agent.id}`} pair={pair} />
                  ))}
                </tbody>
              </table>
            </div>
          )}
          {next !== null && <p class="quiet">There are more pairs than are shown.</p>}
        </Part>
      )}
    </Shown>
  );
}

/** The verdicts of a pair that are shown; the line has all of them. */
const SHOWN_MAX = 6;

function Pair({ pair: { observer, agent, score_ppm, tier, observations, changes } }: { readonly pair: TrustPair }) {
  const before = changes.length - SHOWN_MAX;
  return (
    <tr>
      <th scope="row">
        {safe(agent.name)} <span class="quiet">by {safe(observer.name)}</span>
      </th>
      <td>
        <Spark changes={changes} /> <span class="num">{score(score_ppm)}</span>
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

/** The scores as a line from 0 at the bottom to 1 at the top: a step at each verdict. */
function Spark({ changes }: { readonly changes: TrustPair['changes'] }) {
  const scores = [changes[0]?.trust.old_ppm ?? 0, ...changes.map(({ trust }) => trust.ppm)];
  const x = (i: number) => (i / (scores.length - 1)) * (WIDTH - 6) + 3;
  const y = (ppm: number) => HEIGHT - 2 - (ppm / 1_000_000) * (HEIGHT - 4);
  const points = scores.flatMap((ppm, i) =>
    (i === 0 ? [] : [`${x(i)},${y(scores[i - 1] ?? 0)}`]).concat(`${x(i)},${y(ppm)}`),
  );
  const label = `Score after each verdict: ${scores.map(score).join(', ')}`;
  return (
    <svg class="spark" width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
      <line class="half" x1="0" x2={WIDTH} y1={y(600_000)} y2={y(600_000)} />
      <polyline points={points.join(' ')} />
      <circle cx={x(scores.length - 1)} cy={y(scores.at(-1) ?? 0)} r="2.5" />
    </svg>
  );
}
