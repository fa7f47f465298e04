/** The search: words lead to where they stand; a frame, two frames or a cell lead there at once. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { SearchReport } from '../../src/contract/reports.js';
import { Failed } from '../parts/answer.js';
import { Line } from '../parts/text.js';
import { tidy } from '../screens/story/words.js';
import { go, hrefOf, useRoute } from '../state/router.js';
import { useReportAt } from '../state/use-report.js';
import { Overlay } from './overlay.js';
import { TABS } from './tabs.js';

interface Hit {
  readonly to: string;
  readonly what: string;
  readonly aside?: string;
}

/** How long a pause in typing is, in milliseconds. */
const PAUSE_MS = 120;

/** The search box. */
export function Search({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('');
  const [asked, setAsked] = useState('');
  const [at, setAt] = useState(0);
  const wantsFirst = useRef(false);
  const { at: shownAt } = useRoute().query;
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const answer = useReportAt<SearchReport>(asked === '' ? null : 'search', { q: asked });
  const isCurrent = asked === text.trim() && !answer.isLoading;
  const found = (isCurrent ? (answer.data?.hits ?? []) : []).map(({ to, what, place }) => ({
    ...{ to: kept(to), what },
    ...(place === null ? {} : { aside: `frame ${place.frame}` }),
  }));
  const hits: readonly Hit[] = [...directOf(text.trim()), ...found];
  const open = (hit: Hit | undefined) => {
    if (hit === undefined) return;
    onClose();
    go(hit.to);
  };
  useEffect(() => {
    if (!wantsFirst.current || !isCurrent) return;
    wantsFirst.current = false;
    open(hits[0]);
  });
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setAt(Math.min(hits.length - 1, at + 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(0, at - 1));
    else if (event.key === 'Enter') {
      if (hits.length === 0 && !isCurrent) wantsFirst.current = true;
      open(hits[at]);
    } else return;
    event.preventDefault();
  };
  return (
    <Overlay label="Search" onClose={onClose}>
      <input
        type="text"
        aria-label="Search for words, a frame, two frames or a cell"
        placeholder="words, 118, 10..20, a cell"
        value={text}
        role="combobox"
        aria-expanded={hits.length > 0}
        aria-controls="hits"
        aria-activedescendant={hits.length > 0 ? `hit-${at}` : undefined}
        autocomplete="off"
        spellcheck={false}
        onKeyDown={onKey}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setAt(0);
        }}
      />
      <div id="hits" role="listbox" aria-label="Results">
        {hits.map((hit, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the focus, and answers to the keys
          <div
            key={hit.to + i}
            id={`hit-${i}`}
            role="option"
            aria-selected={i === at}
            tabIndex={-1}
            onClick={() => open(hit)}
          >
            <Line text={tidy(hit.what)} />
            {hit.aside !== undefined && <span class="quiet num">{hit.aside}</span>}
          </div>
        ))}
      </div>
      {answer.failure !== undefined && hits.length === 0 && <Failed failure={answer.failure} what="The search" />}
      {text.trim() !== '' && hits.length === 0 && answer.failure === undefined && (
        <p class="quiet">
          {isCurrent
            ? `Nothing${shownAt === undefined ? '' : ` up to frame ${shownAt}`} has these words.`
            : 'Searching …'}
        </p>
      )}
    </Overlay>
  );
}

/** An address of the server's, with the frame that the page keeps. */
function kept(to: string): string {
  const url = new URL(to, location.origin);
  const [screen = 'now', ...parts] = url.pathname.split('/').filter(Boolean).map(decodeURIComponent);
  // The search was made as of the frame that is shown: that is where it leads.
  url.searchParams.delete('at');
  return hrefOf({ screen, parts, query: Object.fromEntries(url.searchParams) });
}

/** Where a text leads without a search. */
function directOf(text: string): Hit[] {
  const two = /^(\d{1,12})\s*(?:\.\.|…|-|\s)\s*(\d{1,12})$/.exec(text);
  if (two !== null)
    return [
      {
        to: hrefOf({ screen: 'compare', query: { a: two[1], b: two[2] } }),
        what: `compare frames ${two[1]} and ${two[2]}`,
      },
    ];
  if (/^\d{1,12}$/.test(text))
    return [
      { to: hrefOf({ screen: 'f', parts: [text] }), what: `records of frame ${text}` },
      { to: hrefOf({ screen: 'now', query: { at: text } }), what: `everything as of frame ${text}` },
    ];
  if (/^(sha256:)?[0-9a-f]{64}$/.test(text))
    return [{ to: hrefOf({ screen: 'b', parts: [text.replace('sha256:', '')] }), what: 'the content of this digest' }];
  const cells = /^[\w.-]+@\d+\/.+$/.test(text)
    ? [{ to: hrefOf({ screen: 'cell', parts: [text] }), what: `state of ${text}` }]
    : [];
  const [, store, id] = /^(\S+)#(\d{1,12})$/.exec(text) ?? [];
  const items =
    store === undefined || id === undefined
      ? []
      : [{ to: hrefOf({ screen: 'memory', parts: [store, id] }), what: `the memory ${text}` }];
  const tabs = text.length < 2 ? [] : TABS.filter(({ name }) => name.toLowerCase().startsWith(text.toLowerCase()));
  return [
    ...cells,
    ...items,
    ...tabs.map(({ screen, name }) => ({ to: hrefOf({ screen }), what: `the screen ${name}` })),
  ];
}
