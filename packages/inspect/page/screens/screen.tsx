/** Which screen an address names. */
import type { JSX } from 'preact';
import type { WorldReport } from '../../src/contract/reports.js';
import { hrefOf, useRoute } from '../state/router.js';
import { Compare } from './compare.js';
import { Cost } from './cost.js';
import { Memory } from './memory/memory.js';
import { Now } from './now.js';
import { Organization } from './org/organization.js';
import { Society } from './org/society.js';
import { Team } from './org/team.js';
import { Tree } from './org/tree.js';
import { Prompt } from './prompt.js';
import { Blob, Frame, Records } from './records.js';
import { Rights } from './rights.js';
import { Cell, Cells } from './state.js';
import { Story } from './story/story.js';
import { Trouble } from './trouble.js';
import { Waiting } from './waiting.js';

/** What a screen is given. */
export interface ScreenProps {
  readonly world: WorldReport;
}

const SCREENS: Readonly<Record<string, (props: ScreenProps) => JSX.Element | null>> = {
  ...{
    now: Now,
    story: Story,
    prompt: Prompt,
    org: Organization,
    tree: Tree,
    team: Team,
    society: Society,
    group: Society,
    swarm: Society,
  },
  ...{ memory: Memory, waiting: Waiting, cost: Cost, trouble: Trouble, rights: Rights, compare: Compare },
  ...{ cells: Cells, cell: Cell, records: Records, f: Frame, b: Blob },
};

/** The screen that the address names. */
export function Screen({ world }: ScreenProps) {
  const { screen, parts } = useRoute();
  const Named = Object.hasOwn(SCREENS, screen) ? SCREENS[screen] : undefined;
  if (Named === undefined)
    return (
      <p class="empty">
        There is no screen of this name. <a href={hrefOf({ screen: 'now' })}>Go to Now</a>
      </p>
    );
  return <Named key={`${screen}/${parts[0] ?? ''}`} world={world} />;
}
