import path from 'node:path';
import { CROWDED_ROOMS, ROOM_FILES_MAX } from './rules.js';
import { type Problem, packageSources, type Tree } from './tree.js';

/**
 * A folder of a package holds few enough source files to be overlooked. Those that still hold more stand in a table with
 * their number, which only falls.
 *
 * @param crowded the table, for tests of this rule
 */
export function checkRooms(tree: Tree, crowded: Readonly<Record<string, number>> = CROWDED_ROOMS): readonly Problem[] {
  const files = new Map<string, number>();
  for (const file of packageSources(tree)) {
    const room = path.posix.dirname(file);
    files.set(room, (files.get(room) ?? 0) + 1);
  }
  const problems: Problem[] = [];
  for (const [room, count] of files) {
    const max = crowded[room] ?? ROOM_FILES_MAX;
    if (count <= max) continue;
    problems.push({
      file: room,
      line: 1,
      what: `${count} files in one folder; at most ${max}`,
      use: 'rooms by what the files hold',
    });
  }
  for (const [room, known] of Object.entries(crowded)) {
    const count = files.get(room) ?? 0;
    if (count >= known && count > ROOM_FILES_MAX) continue;
    const what = `CROWDED_ROOMS says ${known} files, and there are ${count}`;
    problems.push({
      file: room,
      line: 1,
      what,
      use: count > ROOM_FILES_MAX ? 'the lower number' : 'no row: the room is in order',
    });
  }
  return problems;
}
