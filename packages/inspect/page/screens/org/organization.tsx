/** The organizations of a world: its trees, its teams, its society. */
import { Empty } from '../../parts/answer.js';
import { Part } from '../../parts/facts.js';
import { safe } from '../../words/names.js';
import type { ScreenProps } from '../screen.js';
import { Society } from './society.js';
import { TeamPart } from './team.js';
import { TreePart } from './tree.js';

/** All organizations of the world, one below the other. */
export function Organization({ world }: ScreenProps) {
  const { trees, projects, society } = world.parts;
  if (trees.length === 0 && projects.length === 0 && !society)
    return (
      <Empty>This world has no tree, no team and no society: its sessions stand in the story, each for itself.</Empty>
    );
  return (
    <div class="org">
      {trees.map((name) => (
        <Part key={name} title={`Tree ${safe(name)}`}>
          <TreePart name={name} />
        </Part>
      ))}
      {projects.map((project) => (
        <Part key={project} title={`Team ${safe(project)}`}>
          <TeamPart project={project} />
        </Part>
      ))}
      {society && <Society world={world} />}
    </div>
  );
}
