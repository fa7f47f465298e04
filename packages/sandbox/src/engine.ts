/** The code that a sandbox evaluates before any code of an app. Bundled into one script for a bare realm. */
import { makeRoom } from '@reprise/kernel/sandbox';

/** The entry points of this sandbox. */
export const room = makeRoom();
