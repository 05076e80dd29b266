// Without its fonts: the reader's own are good, and there is nothing to load.
import theme from 'vitepress/theme-without-fonts';
import './style.css';

export default theme;
