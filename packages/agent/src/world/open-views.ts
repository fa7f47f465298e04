/** The runtime of views, as a module of its own: it is loaded by the first question that a view answers. */
export { children, openEffects, openViews } from '@reprise/kernel/views';
