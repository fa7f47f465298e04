/** What happened, in words: messages, answers, calls, decisions, children, and what went wrong. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { StoryEntry, StoryReport } from '../../../src/contract/reports.js';
import { Empty, Shown } from '../../parts/answer.js';
import { Row, select, useRows } from '../../parts/rows.js';
import { Text } from '../../parts/text.js';
import { Clock } from '../../parts/when.js';
import { answerOf, urlOf } from '../../state/api.js';
import { useKeys } from '../../state/keys.js';
import { go, here, hrefOf, set, useRoute } from '../../state/router.js';
import { useReportAt } from '../../state/use-report.js';
import { ownerName } from '../../words/names.js';
import { day } from '../../words/time.js';
import type { ScreenProps } from '../screen.js';
import { EntryDetail } from './detail.js';
import { Who } from './who.js';
import { childIn, isOfSession, labelOf, leadOf, spoken } from './words.js';

/** How many lines are asked for at once. */
const LIMIT = 200;

/** The story of the world, or of one session. */
export function Story(_props: ScreenProps) {
  const [session] = useRoute().parts;
  const answer = useReportAt<StoryReport>('story', { session, limit: LIMIT });
  return (
    <div class="story">
      <Who session={session} />
      <Shown of={answer} what="the story">
        {(report) => <Entries report={report} session={session} />}
      </Shown>
    </div>
  );
}

interface EntriesProps {
  readonly report: StoryReport;
  readonly session: string | undefined;
}

function Entries({ report, session }: EntriesProps) {
  const earlier = useEarlier(report, session);
  const everything = [...earlier.entries, ...report.entries];
  const isAll = useRoute().query.all !== undefined || session !== undefined;
  const entries = isAll ? everything : everything.filter(isOfSession);
  const hidden = everything.length - entries.length;
  const sel = useRows(entries.map(({ place }) => place));
  const entry = entries.find(({ place }) => place === sel);
  const isOpen = entry !== undefined;
  useKeys({
    x: () => set({ all: here().query.all === undefined ? 1 : null }),
    w: () => {
      const last = entries.at(-1);
      if (here().query.sel === undefined && last !== undefined) select(last.place);
      requestAnimationFrame(() => document.querySelector<HTMLElement>('.detail')?.focus());
    },
    p: () => {
      const call = requestFor(entries, here().query.sel);
      if (call === undefined) return false;
      go({ screen: 'prompt', parts: [call.place] });
    },
    Enter: () => document.querySelector<HTMLElement>('.row.selected .fold, .row.selected a')?.click(),
  });
  const { sel: wanted } = useRoute().query;
  useEffect(() => {
    if (wanted !== undefined && isBefore(wanted, everything[0]?.place) && earlier.before !== null) earlier.load();
  }, [wanted, everything[0]?.place]);
  const list = useStayAtEnd(entries.at(-1)?.place, sel !== undefined);
  return (
    <div class={isOpen ? 'split' : 'single'}>
      <section ref={list} class="lines" aria-label="Story" tabIndex={0}>
        {earlier.before !== null && (
          <button type="button" class="fold" onClick={earlier.load}>
            show what happened before
          </button>
        )}
        {(hidden > 0 || (isAll && session === undefined)) && (
          <button type="button" class="fold" title="key x" onClick={() => set({ all: isAll ? null : 1 })}>
            {isAll ? 'sessions only' : `show ${hidden} records of other cells too`}
          </button>
        )}
        {entries.length === 0 && <Empty>Nothing has happened here yet.</Empty>}
        {entries.map((one, i) => (
          <StoryRow
            key={one.place}
            entry={one}
            before={entries[i - 1]}
            isSelected={one.place === sel}
            isFirst={i === entries.length - 1}
            isOfAll={session === undefined}
          />
        ))}
      </section>
      {entry !== undefined && <EntryDetail entry={entry} entries={entries} />}
    </div>
  );
}

/** Whether a place stands before another one. */
function isBefore(place: string, other: string | undefined): boolean {
  const [frame = 0, i = 0] = place.split('.').map(Number);
  const [otherFrame = 0, otherI = 0] = (other ?? '0.0').split('.').map(Number);
  return frame < otherFrame || (frame === otherFrame && i < otherI);
}

interface StoryRowProps {
  readonly entry: StoryEntry;
  readonly before: StoryEntry | undefined;
  readonly isSelected: boolean;
  readonly isFirst: boolean;
  /** Whether lines of several sessions stand here. */
  readonly isOfAll: boolean;
}

function StoryRow({ entry, before, isSelected, isFirst, isOfAll }: StoryRowProps) {
  const { text, isData } = spoken(entry.words);
  const { name, kind } = labelOf(entry);
  const child = childIn(entry);
  const isNewDay = before === undefined || day(before.at) !== day(entry.at);
  const isOther = isOfAll && (before === undefined || before.of?.cell !== entry.of?.cell || isNewDay);
  const isBare = entry.kind === 'message' || (entry.kind === 'answer' && text !== null && text !== '');
  const isOneLine = !isOfSession(entry) || (kind === 'quiet' && text === null);
  return (
    <>
      {isNewDay && <p class="day num">{day(entry.at)}</p>}
      {isOther && <p class="of">{ownerName(entry.of)}</p>}
      <Row id={entry.place} isSelected={isSelected} isFirst={isFirst} class={`line-${kind}`}>
        <Clock ms={entry.at} />
        <span class={`tag ${kind}`}>{name}</span>
        <div class="said">
          {child !== undefined && <a href={hrefOf({ screen: 'story', parts: [child] })}>its story</a>}
          {!isBare && <p class={`lead ${entry.kind}${isOneLine && !isSelected ? ' line' : ''}`}>{leadOf(entry)}</p>}
          {text !== null && text !== '' && <Text text={text} code={isData || entry.kind === 'result'} />}
        </div>
      </Row>
    </>
  );
}

/** The model call that a row is about: its own, or the nearest one before it. */
function requestFor(entries: readonly StoryEntry[], sel: string | undefined): StoryEntry | undefined {
  const at = entries.findIndex(({ place }) => place === sel);
  if (at === -1) return entries.findLast(({ kind }) => kind === 'answer');
  const cell = entries[at]?.of?.cell;
  return (
    entries.slice(0, at + 1).findLast(({ kind, of }) => kind === 'answer' && of?.cell === cell) ??
    entries.slice(at).find(({ kind, of }) => kind === 'answer' && of?.cell === cell)
  );
}

interface Earlier {
  readonly entries: readonly StoryEntry[];
  readonly before: string | null;
  readonly load: () => void;
}

/** The lines before those of a report, as far as they were asked for. */
function useEarlier(report: StoryReport, session: string | undefined): Earlier {
  const [pages, setPages] = useState<{ of: string | null; entries: readonly StoryEntry[]; before: string | null }>();
  const own = pages !== undefined && pages.of === report.before ? pages : { entries: [], before: report.before };
  const load = () => {
    const { at } = here().query;
    const url = urlOf('story', { session, at, limit: LIMIT, before: own.before });
    answerOf(url, url, new AbortController().signal)
      .then((page) => {
        const { entries, before } = page as StoryReport;
        setPages({ of: report.before, entries: [...entries, ...own.entries], before });
      })
      .catch(() => {});
  };
  return { entries: own.entries, before: own.before, load };
}

/** Keeps the end of a growing list in sight while it is, and nothing is selected. */
function useStayAtEnd(last: string | undefined, isSelected: boolean) {
  const list = useRef<HTMLElement>(null);
  const wasAtEnd = useRef(true);
  useEffect(() => {
    const element = list.current;
    if (element === null) return;
    const look = () => {
      wasAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < 40;
    };
    element.addEventListener('scroll', look, { passive: true });
    return () => element.removeEventListener('scroll', look);
  }, []);
  useEffect(() => {
    if (wasAtEnd.current && !isSelected) list.current?.scrollTo(0, list.current.scrollHeight);
  }, [last]);
  return list;
}
