/** What stands inside of a sandbox before any code of an app does. Bundled into one script for a bare realm. */
import { makeRoom } from '@reprise/kernel/sandbox';

/** The door of this sandbox. */
export const room = makeRoom();
