/** The detail of a line of a story: what · who · when · why · allowed by · cost · came of it. */
import type { RequestReport, StoryEntry } from '../../../src/contract/reports.js';
import { Command } from '../../parts/copy.js';
import { Detail, Fact } from '../../parts/facts.js';
import { select } from '../../parts/rows.js';
import { Line, Whole } from '../../parts/text.js';
import { Clock, FrameLink } from '../../parts/when.js';
import { useLive } from '../../state/live.js';
import { hrefOf } from '../../state/router.js';
import { useReport } from '../../state/use-report.js';
import { actorName, ownerName } from '../../words/names.js';
import { money, whole } from '../../words/numbers.js';
import { iso } from '../../words/time.js';
import { type Chain, chainOf, outcomeOf } from './chain.js';
import { labelOf, leadOf, spoken } from './words.js';

interface DetailProps {
  readonly entry: StoryEntry;
  readonly entries: readonly StoryEntry[];
}

/** The pane of one line. */
export function EntryDetail({ entry, entries }: DetailProps) {
  const { text, isData } = spoken(entry.words);
  const { path } = useLive();
  const chain = chainOf(entry, entries);
  const { message, answer, read, question, decision } = chain;
  const otherwise = forkOptions(entry, chain);
  const causes = [answer, ...read, message].filter((one): one is StoryEntry => one !== null && one !== entry);
  const outcome = outcomeOf(entry, entries);
  return (
    <Detail title="The selected row">
      <dl>
        <Fact name="what">
          <p>{leadOf(entry)}</p>
          {text !== null && <Whole text={text} code={isData} />}
        </Fact>
        <Fact name="who">
          {actorName(entry.by)} <span class="quiet">in {ownerName(entry.of)}</span>
        </Fact>
        <Fact name="when">
          <Clock ms={entry.at} /> · <FrameLink frame={entry.frame} /> <span class="quiet num iso">{iso(entry.at)}</span>
        </Fact>
        <Fact name="why">
          {causes.length > 0 && (
            <ol class="causes">
              {causes.map((cause) => (
                <li key={cause.place}>
                  <Cause entry={cause} />
                </li>
              ))}
            </ol>
          )}
        </Fact>
        <Fact name="allowed by">
          {decision !== null ? (
            <Cause entry={decision} />
          ) : question !== null ? (
            'it waits for a person'
          ) : entry.call_id !== null ? (
            'the rules of the app: nobody was asked'
          ) : null}
        </Fact>
        <Fact name="cost">{entry.kind === 'answer' && entry.effect !== null && <CallCost place={entry.place} />}</Fact>
        <Fact name="came of it">
          {outcome.length > 0 && (
            <ol class="causes">
              {outcome.map((one) => (
                <li key={one.place}>
                  <Cause entry={one} />
                </li>
              ))}
            </ol>
          )}
        </Fact>
        <Fact name="what another answer would have done">
          {otherwise !== null && <Command line={`reprise fork ${quoted(path)} ${otherwise}`} />}
        </Fact>
      </dl>
      <p class="links">
        {entry.kind === 'answer' && (
          <a href={hrefOf({ screen: 'prompt', parts: [entry.place] })}>
            what it was sent <kbd>p</kbd>
          </a>
        )}
        <a href={hrefOf({ screen: 'f', parts: [entry.frame, entry.place.split('.')[1] ?? 0] })}>record {entry.place}</a>
        {entry.of !== null && <a href={hrefOf({ screen: 'cell', parts: [entry.of.cell] })}>state of its cell</a>}
      </p>
    </Detail>
  );
}

/** What a dry fork is told to have otherwise: the answer of a model, or a call that was made or decided. */
function forkOptions(entry: StoryEntry, { decision, result }: Chain): string | null {
  if (entry.kind === 'answer') return entry.effect === null ? null : `--answer ${entry.effect}='TEXT'`;
  const effect = decision?.effect ?? result?.effect ?? null;
  return effect === null ? null : `--deny ${effect}`;
}

/** A path as a word for a shell. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replace(/'/g, "'\\''")}'`;
}

function Cause({ entry }: { readonly entry: StoryEntry }) {
  const { text } = spoken(entry.words);
  return (
    <button type="button" class="cause" onClick={() => select(entry.place)}>
      <span class={`tag ${labelOf(entry).kind}`}>{labelOf(entry).name}</span>
      <Line text={text === null || text === '' ? leadOf(entry) : text} />
    </button>
  );
}

function CallCost({ place }: { readonly place: string }) {
  const { data } = useReport<RequestReport>('prompt', { call: place });
  if (data === undefined) return <span class="quiet">…</span>;
  const { usage } = data;
  if (usage === null) return <>not stated</>;
  const { tokens_in = 0, tokens_out = 0, micro_money } = usage;
  const price = micro_money === undefined ? 'no price is stated' : money(micro_money);
  return (
    <>
      {whole(tokens_in)} tokens in, {whole(tokens_out)} out · {price}
    </>
  );
}
