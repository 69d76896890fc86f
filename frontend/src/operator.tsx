// Starts the operator's page.
import { OperatorPage } from "./components/pages/OperatorPage.tsx";
import { start } from "./start.tsx";

start(<OperatorPage />);
