// Starts the API reference.
import { ReferencePage } from "./components/pages/ReferencePage.tsx";
import { start } from "./start.tsx";

start(<ReferencePage />);
