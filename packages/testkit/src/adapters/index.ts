export * from './scripted-adapter.js';
