/** The screens, with what waits and what went wrong as numbers. */
import { useEffect } from 'preact/hooks';
import type { NowReport } from '../../src/contract/reports.js';
import { useKeys } from '../state/keys.js';
import { go, hrefOf, useRoute } from '../state/router.js';
import { useReportAt } from '../state/use-report.js';

interface Tab {
  readonly screen: string;
  readonly name: string;
  /** The key that opens it. */
  readonly key: string;
  /** Other screens that belong to it. */
  readonly with?: readonly string[];
}

/** Every screen that has a tab, in order. */
export const TABS: readonly Tab[] = [
  { screen: 'now', name: 'Now', key: '1' },
  { screen: 'story', name: 'Story', key: '2', with: ['prompt'] },
  { screen: 'org', name: 'Organization', key: '3', with: ['tree', 'team', 'society', 'group', 'swarm'] },
  { screen: 'memory', name: 'Memory', key: 'm' },
  { screen: 'waiting', name: 'Waiting', key: '4' },
  { screen: 'cost', name: 'Cost', key: '5' },
  { screen: 'trouble', name: 'Trouble', key: '6' },
  { screen: 'rights', name: 'Rights', key: '7' },
  { screen: 'compare', name: 'Compare', key: '8' },
  { screen: 'cells', name: 'State', key: '9', with: ['cell'] },
  { screen: 'records', name: 'Records', key: '0', with: ['f', 'b'] },
];

/** Opens a screen by its key, and the newest request to a model by `p`. */
export function useTabKeys(): void {
  const keys = Object.fromEntries(TABS.map(({ key, screen }) => [key, () => go({ screen })]));
  useKeys({ ...keys, p: () => go({ screen: 'prompt', parts: ['last'] }) });
}

/** The tabs. */
export function Tabs() {
  const { screen } = useRoute();
  const now = useReportAt<NowReport>('now').data;
  useEffect(() => {
    document.querySelector('nav.tabs [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [screen]);
  const counts: Record<string, number | undefined> = { waiting: now?.waiting_total, trouble: now?.trouble_total };
  return (
    <nav class="tabs" aria-label="Screens">
      {TABS.map((tab) => {
        const isHere = tab.screen === screen || (tab.with?.includes(screen) ?? false);
        const count = counts[tab.screen];
        return (
          <a
            key={tab.screen}
            id={`tab-${tab.screen}`}
            href={hrefOf({ screen: tab.screen })}
            aria-current={isHere ? 'page' : undefined}
            title={`key ${tab.key}`}
          >
            {tab.name}
            {count !== undefined && count > 0 && <span class={`badge ${tab.screen}`}> {count}</span>}
          </a>
        );
      })}
    </nav>
  );
}
