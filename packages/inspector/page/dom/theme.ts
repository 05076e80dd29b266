const KEY = 'call-webhooks-theme';
const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

const current = (): Theme =>
  THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? 'system';

function paint(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

/** Applies the theme that was selected earlier. */
export function restoreTheme(): void {
  paint(current());
}

/** Switches from system to light to dark. @returns the new theme */
export function nextTheme(): Theme {
  const theme = THEMES[(THEMES.indexOf(current()) + 1) % THEMES.length] ?? 'system';
  localStorage.setItem(KEY, theme);
  paint(theme);
  return theme;
}
