/** A society: who made whom, the groups with their members, the swarms with their slots, and who trusts whom. */
import type { SocietyEntity, SocietyGroup, SocietySwarm, SwarmResult } from '@reprise/operators';
import type { SocietyReport } from '../../../src/contract/reports.js';
import { Empty, Shown } from '../../parts/answer.js';
import { Part } from '../../parts/facts.js';
import { Row, useRows } from '../../parts/rows.js';
import { Text } from '../../parts/text.js';
import { hrefOf } from '../../state/router.js';
import { useReportAt } from '../../state/use-report.js';
import { holderOf, plain, safe } from '../../words/names.js';
import { amount, money, short } from '../../words/numbers.js';
import type { ScreenProps } from '../screen.js';
import { Trust } from './trust.js';

/** The society of a world. */
export function Society(_props: ScreenProps) {
  const answer = useReportAt<SocietyReport>('society');
  return (
    <Shown of={answer} what="the society">
      {(society) => <Parts society={society} />}
    </Shown>
  );
}

function Parts({ society }: { readonly society: SocietyReport }) {
  const { entities, groups, swarms } = society;
  const rows = lineage(entities);
  const sel = useRows(rows.map(({ id }) => id));
  return (
    <div class="society">
      <Part title="Who made whom" count={entities.length}>
        {rows.length === 0 && <Empty>The society has no member at this frame.</Empty>}
        {rows.map((one, i) => (
          <Row key={one.id} id={one.id} isSelected={one.id === sel} isFirst={i === 0} class="node">
            <div class="cols" style={{ '--depth': one.depth }}>
              <span class="what indent">
                <strong>{safe(one.name)}</strong> <span class="quiet">{safe(one.kind)}</span>
              </span>
              <span class="state" title={safe(one.reason)}>
                {safe(one.status)}
              </span>
              <span class="who quiet">{safe(one.tier)}</span>
              <span class="age">
                <a href={hrefOf({ screen: 'rights', query: { holder: holderOf(one) } })}>rights</a>
              </span>
            </div>
          </Row>
        ))}
      </Part>
      <div>
        <Part title="Groups" count={groups.length}>
          {groups.length === 0 && <Empty>There is no group.</Empty>}
          {groups.map((group) => (
            <Group key={group.id} group={group} />
          ))}
        </Part>
        <Part title="Swarms" count={swarms.length}>
          {swarms.length === 0 && <Empty>There is no swarm.</Empty>}
          {swarms.map((swarm) => (
            <Swarm key={swarm.id} swarm={swarm} />
          ))}
        </Part>
      </div>
      <div class="wide">
        <Trust />
      </div>
    </div>
  );
}

function Group({ group: { id, kind, standing, emcon, members } }: { readonly group: SocietyGroup }) {
  return (
    <section class="box">
      <h3>
        {safe(plain(id))}{' '}
        <span class="quiet">
          {safe(kind === 'swarm' ? 'of a swarm' : kind)}, {safe(standing)}
        </span>
        {emcon && <span class="tag failed">writes are refused</span>}
      </h3>
      <ul class="members">
        {members.map((member) => (
          <li key={member.id}>
            {safe(member.name)}{' '}
            <span class="quiet">
              {safe(member.role)}
              {member.tier === null ? '' : `, ${safe(member.tier)}`}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Swarm({
  swarm: { id, status, strategy, stage, stages, goal, creator, code, slots, open, spent, results, result },
}: {
  readonly swarm: SocietySwarm;
}) {
  return (
    <section class="box">
      <h3>
        {safe(plain(id))}{' '}
        <span class="quiet">
          {safe(strategy)}, by {safe(creator.name)}
        </span>
      </h3>
      {goal !== null && <p class="goal">{safe(goal)}</p>}
      <p>
        <strong>{safe(status)}</strong>
        {code !== null && ` (${safe(code)})`}
        {strategy === 'pipeline' && ` · stage ${stage + 1} of ${stages}`} · {amount(open, 'open task')} ·{' '}
        {short(spent.tokens)} tokens · {money(spent.micro_money)}
      </p>
      <ul class="members">
        {slots.map(({ slot, index, agent, phase, task }) => (
          <li key={`${slot}-${index}`}>
            {safe(slot)} {index}{' '}
            <span class="quiet">
              {agent === null ? 'free' : safe(agent.name)}, {safe(phase)}
              {task === null ? '' : `, task ${task}`}
            </span>
          </li>
        ))}
      </ul>
      {results.length > 0 && <h4>What its agents found</h4>}
      <ul class="found">
        {results.map((one) => (
          <li key={one.task}>
            <Result of={one} />
          </li>
        ))}
      </ul>
      {result !== null && (
        <>
          <h4>Its result</h4>
          <Text text={result} />
        </>
      )}
    </section>
  );
}

/** What an agent of a swarm found: a candidate of the result. */
function Result({ of: { task, slot, index, status, attempt, code, words } }: { readonly of: SwarmResult }) {
  return (
    <>
      <span class="quiet">
        task {task}, {safe(slot)} {index}: {safe(status)}
        {code !== null && ` (${safe(code)})`}
        {attempt > 1 && `, attempt ${attempt}`}
      </span>{' '}
      {words === null ? '' : safe(words)}
    </>
  );
}

/** Each entity below its maker. */
function lineage(entities: readonly SocietyEntity[]): readonly SocietyEntity[] {
  const known = new Set(entities.map(({ id }) => id));
  const placed: SocietyEntity[] = [];
  const walk = (parent: string | null): void => {
    for (const one of entities) {
      const maker = one.parent !== null && known.has(one.parent.id) ? one.parent.id : null;
      if (maker !== parent || placed.includes(one)) continue;
      placed.push(one);
      walk(one.id);
    }
  };
  walk(null);
  return placed;
}
