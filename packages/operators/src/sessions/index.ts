/** Who is in a world: its sessions, and the names of its trees and projects. */
export type { FrameTime, SessionRow, SessionsReport, WorldParts } from './report.js';
export { partsOf, sessionsOf } from './sessions.js';
