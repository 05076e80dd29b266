import { chromium, type Browser } from 'playwright-core';
import { findProgram } from '@call-webhooks/contract-tests/find-program';

/** Where chromium is on this machine; `undefined` where it is not installed. */
export const chromiumPath = (): string | undefined =>
  findProgram('chromium', 'chromium-browser', 'google-chrome');

const FLAGS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts a headless chromium without a sandbox, for pages of our own alone. */
export const launchChromium = (executablePath: string): Promise<Browser> =>
  chromium.launch({ executablePath, headless: true, chromiumSandbox: false, args: FLAGS });
