import './style/index.css';
import { render } from 'preact';
import { restoreTheme } from '@call-webhooks/ui';
import { App } from './app.tsx';

restoreTheme();
const place = document.getElementById('app');
if (place) render(<App />, place);
