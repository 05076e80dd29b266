import { Button } from './button.tsx';
import { notify } from './notices.tsx';

const KEY = 'call-webhooks-theme';
const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

const current = (): Theme =>
  THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? 'system';

function paint(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

/** Applies the theme that was chosen earlier. */
export function restoreTheme(): void {
  paint(current());
}

/** Switches from system to light to dark, and says so. */
export function nextTheme(): void {
  const theme = THEMES[(THEMES.indexOf(current()) + 1) % THEMES.length] ?? 'system';
  localStorage.setItem(KEY, theme);
  paint(theme);
  notify(`Theme: ${theme}.`);
}

/** A button that switches the theme. */
export const ThemeButton = ({ title }: { readonly title?: string }) => (
  <Button
    label="Change between light and dark"
    title={title ?? 'Light or dark'}
    icon="theme"
    iconOnly
    onClick={nextTheme}
  />
);
