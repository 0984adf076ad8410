import { render } from "preact";

import { App } from "./app.tsx";
import { applyTheme } from "./theme.ts";

applyTheme();
const place = document.querySelector("#console");
if (place !== null) render(<App />, place);
