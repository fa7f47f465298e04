/** For reducers that own cells: making cells that have fewer rights than their maker. */
export {
  type CellToMake,
  type MadeNews,
  makeWithRights,
  makingEvents,
  makingNews,
  makingTables,
} from '@reprise/work/contracts';
