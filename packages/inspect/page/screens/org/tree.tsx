/** A tree: goals below goals, who works on each, what it used of its budget, what it waits for. */
import type { TreeNodeRow, TreeReport } from '../../../src/contract/reports.js';
import { Shown } from '../../parts/answer.js';
import { Detail, Fact } from '../../parts/facts.js';
import { Row, useRows } from '../../parts/rows.js';
import { Text } from '../../parts/text.js';
import { Clock, FrameLink } from '../../parts/when.js';
import { useKeys } from '../../state/keys.js';
import { go, here, hrefOf, useRoute } from '../../state/router.js';
import { useReportAt } from '../../state/use-report.js';
import { safe } from '../../words/names.js';
import { money, short } from '../../words/numbers.js';
import type { ScreenProps } from '../screen.js';

/** One tree as a screen. */
export function Tree(_props: ScreenProps) {
  const [name = ''] = useRoute().parts;
  return <TreePart name={name} />;
}

/** One tree. */
export function TreePart({ name }: { readonly name: string }) {
  const answer = useReportAt<TreeReport>('tree', { name });
  return (
    <Shown of={answer} what={`the tree ${safe(name)}`}>
      {(tree) => <Chart tree={tree} />}
    </Shown>
  );
}

function Chart({ tree }: { readonly tree: TreeReport }) {
  const rows = inOrder(tree.nodes);
  const id = (n: number) => `${tree.name}-${n}`;
  const sel = useRows(rows.map(({ node }) => id(node.n)));
  const node = rows.find((row) => id(row.node.n) === sel)?.node;
  useKeys({
    Enter: () => {
      const session = rows.find((row) => id(row.node.n) === here().query.sel)?.node.session;
      if (session == null) return false;
      go({ screen: 'story', parts: [session] });
    },
  });
  return (
    <div class={node === undefined ? 'single' : 'split'}>
      <div class="chart-of">
        <p class="goal">
          <strong>{safe(tree.state)}</strong> · {safe(tree.goal)}
        </p>
        {rows.map((row, i) => (
          <Row key={row.node.n} id={id(row.node.n)} isSelected={id(row.node.n) === sel} isFirst={i === 0} class="node">
            <NodeLine node={row.node} depth={row.depth} asks={tree.asks.filter(({ asker }) => asker === row.node.n)} />
          </Row>
        ))}
      </div>
      {node !== undefined && <NodeDetail node={node} />}
    </div>
  );
}

interface NodeLineProps {
  readonly node: TreeNodeRow;
  readonly depth: number;
  readonly asks: TreeReport['asks'];
}

function NodeLine({ node, depth, asks }: NodeLineProps) {
  const { n, goal, mark, state, agent, blocked_by, tokens, micro_money, budget, why, result } = node;
  return (
    <>
      <div class="cols" style={{ '--depth': depth }}>
        <span class="what indent">
          <code>{mark}</code> <span class="quiet num">#{n}</span> {safe(goal)}
        </span>
        <span class="who">{agent === null ? '' : safe(agent)}</span>
        <span class="state">{safe(state)}</span>
        <span class="age num">
          {short(tokens)}
          {budget !== null && <span class="quiet"> of {short(budget)}</span>}
          {micro_money > 0 && <span class="quiet"> {money(micro_money)}</span>}
        </span>
      </div>
      {budget !== null && budget > 0 && <Bar part={tokens / budget} depth={depth} />}
      {blocked_by.length > 0 && (
        <p class="note" style={{ '--depth': depth }}>
          waits for {blocked_by.map((one) => `#${one}`).join(', ')}
        </p>
      )}
      {(why === null ? asks : []).map(({ n: ask, question }) => (
        <p key={ask} class="note warn" style={{ '--depth': depth }}>
          asks: {safe(question)}
        </p>
      ))}
      {(why ?? result) !== null && (
        <p class={`note ${why === null ? '' : 'warn'}`} style={{ '--depth': depth }}>
          {safe(why ?? result ?? '')}
        </p>
      )}
    </>
  );
}

function Bar({ part, depth }: { readonly part: number; readonly depth: number }) {
  return (
    <svg class="budget" viewBox="0 0 100 3" preserveAspectRatio="none" aria-hidden="true" style={{ '--depth': depth }}>
      <rect class="all" width={100} height={3} />
      <rect class="used" width={Math.min(100, part * 100)} height={3} />
    </svg>
  );
}

function NodeDetail({ node }: { readonly node: TreeNodeRow }) {
  const { goal, agent, session, state, made, changed, why, blocked_by, tokens, micro_money, budget, result } = node;
  return (
    <Detail title="The selected node">
      <dl>
        <Fact name="what">
          <Text text={goal} open />
        </Fact>
        <Fact name="who">{agent === null ? 'no agent yet' : safe(agent)}</Fact>
        <Fact name="when">
          made <Clock ms={made.at} />, <FrameLink frame={made.frame} /> · changed <Clock ms={changed.at} />,{' '}
          <FrameLink frame={changed.frame} />
        </Fact>
        <Fact name="state">{safe(state)}</Fact>
        <Fact name="why">{why === null ? null : safe(why)}</Fact>
        <Fact name="waits for">{blocked_by.length === 0 ? null : blocked_by.map((n) => `#${n}`).join(', ')}</Fact>
        <Fact name="cost">
          {short(tokens)} tokens{budget === null ? '' : ` of ${short(budget)}`} · {money(micro_money)}
        </Fact>
        <Fact name="came of it">{result === null ? null : <Text text={result} open />}</Fact>
      </dl>
      {session !== null && (
        <p class="links">
          <a href={hrefOf({ screen: 'story', parts: [session] })}>its story</a>
        </p>
      )}
    </Detail>
  );
}

interface Placed {
  readonly node: TreeNodeRow;
  readonly depth: number;
}

/** Each node below its parent, in the order of their numbers. */
function inOrder(nodes: readonly TreeNodeRow[]): readonly Placed[] {
  const known = new Set(nodes.map(({ n }) => n));
  const below = new Map<number | null, TreeNodeRow[]>();
  for (const node of nodes) {
    const parent = node.parent !== null && known.has(node.parent) ? node.parent : null;
    below.set(parent, [...(below.get(parent) ?? []), node]);
  }
  const placed: Placed[] = [];
  const walk = (parent: number | null, depth: number): void => {
    for (const node of below.get(parent) ?? []) {
      placed.push({ node, depth });
      walk(node.n, depth + 1);
    }
  };
  walk(null, 0);
  return placed;
}
