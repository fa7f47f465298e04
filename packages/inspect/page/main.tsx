/** The page of `reprise inspect`: where it begins. */
import './style/base.css';
import './style/frame.css';
import './style/screens.css';
import { render } from 'preact';
import { App } from './app.js';
import { takeToken } from './state/api.js';
import { startKeys } from './state/keys.js';
import { startRouter } from './state/router.js';
import { sourceOf } from './state/source.js';

const isKnown = sourceOf(true);
takeToken(() => isKnown.set(false));
startRouter();
startKeys();
const root = document.getElementById('page');
if (root !== null) render(<App isKnown={isKnown} />, root);
