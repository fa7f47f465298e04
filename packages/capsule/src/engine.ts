/** What stands inside of a capsule before any code of an app does. Bundled into one script for a bare realm. */
import { makeRoom } from '@reprise/kernel/capsule';

/** The door of this capsule. */
export const room = makeRoom();
