/** The history of a world in words, explanations of what happened in it, and its errors in lines. */
export * from '@reprise/agent/history';
