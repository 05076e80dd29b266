const KEY = 'call-webhooks-theme';
const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

const current = (): Theme =>
  THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? 'system';

function paint(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

/** Takes up what was chosen earlier. */
export function restoreTheme(): void {
  paint(current());
}

/** System, light, dark, and round again. @returns the new one */
export function nextTheme(): Theme {
  const theme = THEMES[(THEMES.indexOf(current()) + 1) % THEMES.length] ?? 'system';
  localStorage.setItem(KEY, theme);
  paint(theme);
  return theme;
}
