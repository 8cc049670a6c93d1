# The page's own scripts, in the order in which they are run. Included by the build and by assemble.cmake.
set(page_scripts
    page.js
    format.js
    table.js
    charts.js
    timeline.js
    summary.js
    report_tables.js
    view_charts.js
    compare.js
    main.js)
