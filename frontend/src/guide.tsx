// Starts the page of a guide document or a note.

import { GuidePage } from "./components/pages/GuidePage.tsx";
import { BASE_URL } from "./logic/baseUrl.ts";
import { start } from "./start.tsx";

start(<GuidePage path={location.pathname.slice(BASE_URL.length)} />);
