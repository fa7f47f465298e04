/** The frame of every screen: what the file is, the screens, the slider, and the screen that the address names. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { WorldReport } from '../src/contract/reports.js';
import { Header } from './frame/header.js';
import { Help } from './frame/help.js';
import { Search } from './frame/search.js';
import { Slider } from './frame/slider.js';
import { Tabs, useTabKeys } from './frame/tabs.js';
import { Failed } from './parts/answer.js';
import { Screen } from './screens/screen.js';
import { ask, hasToken, ReportFailure } from './state/api.js';
import { useKeys } from './state/keys.js';
import { follow } from './state/live.js';
import { useRoute } from './state/router.js';
import { type Source, useSource } from './state/source.js';

/** The whole page. @param isKnown whether the server knows it */
export function App({ isKnown }: { readonly isKnown: Source<boolean> }) {
  const known = useSource(isKnown) && hasToken();
  const [world, setWorld] = useState<WorldReport | ReportFailure>();
  useEffect(() => {
    if (known) openWorld().then(setWorld, setWorld);
  }, [known]);
  if (!known) return <Unknown />;
  if (world === undefined) return <p class="page-of-one quiet">Opening the world …</p>;
  if (world instanceof ReportFailure) return <Failed failure={world} what="The world" />;
  return <Page world={world} />;
}

async function openWorld(): Promise<WorldReport> {
  const world = (await (await ask('/api/world')).json()) as WorldReport;
  follow(world).catch(() => {});
  return world;
}

/** What a page is told that was not opened by the line in the terminal, or was loaded again. */
function Unknown() {
  return (
    <main class="unknown">
      <h1>Open the line of the terminal again</h1>
      <p>
        The page holds its key in memory only, so a reload or a copied address forgets it. Open the line that{' '}
        <code>reprise inspect</code> printed in the terminal: it ends with <code>#token=…</code>.
      </p>
    </main>
  );
}

function Page({ world }: { readonly world: WorldReport }) {
  const [open, setOpen] = useState<'search' | 'help' | null>(null);
  const before = useRef<Element | null>(null);
  const show = (what: 'search' | 'help') => {
    before.current = document.activeElement;
    setOpen(what);
  };
  const close = () => {
    setOpen(null);
    if (before.current instanceof HTMLElement) before.current.focus();
  };
  useTabKeys();
  useKeys({ '/': () => show('search'), '?': () => show('help') });
  const { screen } = useRoute();
  useEffect(() => {
    document.title = `${screen} · ${world.path} · Reprise`;
  }, [screen]);
  return (
    <div class="page">
      <a class="skip" href="#main">
        Go to the screen
      </a>
      <Header world={world} onSearch={() => show('search')} onHelp={() => show('help')} />
      <Tabs />
      <main id="main" tabIndex={-1}>
        <Screen world={world} />
      </main>
      <Slider world={world} />
      {open === 'search' && <Search onClose={close} />}
      {open === 'help' && <Help onClose={close} />}
    </div>
  );
}
