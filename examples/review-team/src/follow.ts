/** Follows a review to its end, or until the user leaves. */
import path from 'node:path';
import type { AgentWorld } from 'reprise';
import type { Project } from 'reprise/specialists';
import { doneBefore } from './interrupt.js';
import { MESSAGE, messageFor } from './team.js';
import { LiveView } from './view.js';

/** What is followed, and where it is shown. */
interface FollowOptions {
  readonly folder: string;
  readonly out: NodeJS.WriteStream;
  /** Lines in place of a picture. */
  readonly plain: boolean;
  /** Receives what writes a line beside the picture. */
  noting(note: (line: string) => void): void;
  /** Aborted when the user leaves. */
  readonly signal: AbortSignal;
}

/**
 * Sends the message, once however often the program is started, and shows the work. However it ends, the view has
 * stopped by then: a view that still reads fails when the world is closed.
 *
 * @returns whether the review is over; not when the user has left
 */
export async function followed(
  world: Pick<AgentWorld, 'kernel'>,
  project: Project,
  { folder, out, plain, signal, noting }: FollowOptions,
): Promise<boolean> {
  if (!(await doneBefore(signal, project.send(messageFor(path.basename(folder)), MESSAGE)))) return false;
  const view = new LiveView(world, project, out, plain);
  view.begin();
  noting((line) => view.note(line));
  try {
    return await doneBefore(signal, project.idle());
  } finally {
    await view.end();
  }
}
