export { ApiError, callJson, messageOf, type JsonRequest } from './api.ts';
export { ActionButton, Button, CopyButton, attempt, type ButtonLook } from './button.tsx';
export { Badge, Chip, OutcomeBadge, Tag, type Tone } from './badge.tsx';
export { BarChart } from './chart.tsx';
export { CodeBlock, HeaderList } from './code.tsx';
export { Dialog, FormDialog, openDialog, openForm, type Question } from './dialog.tsx';
export { Field, Select, Switch, TextArea, fieldValue } from './field.tsx';
export { Icon, type IconName } from './icon.tsx';
export { Notices, notify, notifyError } from './notices.tsx';
export { usePoll, type Polled } from './poll.ts';
export { listenForShortcuts, ShortcutsDialog, type Shortcut } from './shortcuts.tsx';
export { Facts, Table, type Column } from './table.tsx';
export { TabList, TabPanel, type Tab } from './tabs.tsx';
export { Countdown, Time, useTick } from './time.tsx';
export { visible } from './visible.ts';
export {
  ago,
  count,
  counted,
  day,
  duration,
  minuteOf,
  moment,
  shortMinute,
  shortTime,
  span,
  timeOfDay,
  zoneOf,
} from './format.ts';
export { nextTheme, restoreTheme, ThemeButton } from './theme.tsx';
export { TopBar } from './top-bar.tsx';
export { addressWith, changeUrl, onUrlChange, readUrl, useUrl } from './url-state.ts';
